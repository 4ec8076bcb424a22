// Server-sent events over fetch, which unlike EventSource learns why a stream is refused, and when it hangs.

import { request } from "./send.js";

/** @typedef {{ name: string, data: string, id: string }} Message */
/**
 * @typedef {object} Listener
 * @property {() => void} opened
 * @property {(message: Message) => void} heard
 * @property {() => void} lost it is tried again, from the last position
 * @property {() => void} over the viewer has lost access; it is not tried again
 */

// Final refusals: not signed in, no access, not found, gone.
const OVER = new Set([401, 403, 404, 410]);
// In milliseconds: how long to wait for a connection, and between two attempts.
const PATIENCE = 20_000;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 10_000;

/**
 * Takes the text of a stream in pieces, and calls `emit` with the fields of each block: event, data, id, retry.
 * @param {(fields: Record<string, string>) => void} emit
 */
export function parser(emit) {
  let rest = "";
  /** @type {Record<string, string>} */
  let fields = {};
  return (/** @type {string} */ piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [name, value = ""] = line.split(/: ?(.*)/s);
      if (line) fields[name] = name === "data" && "data" in fields ? `${fields.data}\n${value}` : value;
      else {
        emit(fields);
        fields = {};
      }
    }
  };
}

/**
 * Opens a stream, and again whenever it ends; a page in the background has none.
 * @param {string} address
 * @param {Listener} listener
 */
export function listen(address, { opened, heard, lost, over }) {
  let position = "";
  let firstPause = FIRST_PAUSE;
  let attempts = 0;
  let closed = false;
  let connection = new AbortController();
  let wake = () => {};

  // Resolves when the connection ends: with the status if it was refused.
  async function connect() {
    connection = new AbortController();
    const hangs = setTimeout(() => connection.abort(), PATIENCE);
    const headers = { accept: "text/event-stream", ...(position && { "last-event-id": position }) };
    const response = await request(address, { headers, signal: connection.signal });
    clearTimeout(hangs);
    if (!response?.ok || !response.body) return response?.status ?? 0;
    attempts = 0;
    opened();
    const parse = parser(({ id, event, data, retry }) => {
      position = id ?? position;
      firstPause = Number(retry ?? firstPause);
      if (event) heard({ name: event, data: data ?? "", id: position });
    });
    const decoder = new TextDecoder();
    try {
      for (const reader = response.body.getReader(); !closed; ) {
        const { done, value } = await reader.read();
        if (done) break;
        parse(decoder.decode(value, { stream: true }));
      }
    } catch {
      // The network is gone, or the page is in the background.
    }
    return 0;
  }

  /** @param {number} time */
  const pause = (time) =>
    new Promise((resolve) => {
      wake = () => resolve(undefined);
      if (time) setTimeout(wake, time);
    });

  async function run() {
    while (!closed) {
      if (document.hidden) await pause(0);
      const status = closed ? 0 : await connect();
      if (closed) return;
      if (OVER.has(status)) {
        close();
        over();
        return;
      }
      lost();
      attempts += 1;
      // With jitter, so that clients do not reconnect all at once.
      await pause(Math.min(LONGEST_PAUSE, firstPause * 2 ** (attempts - 1)) * (0.7 + 0.6 * Math.random()));
    }
  }

  // A stream that has lost its network can look open for minutes.
  function reopen() {
    attempts = 0;
    connection.abort();
    setTimeout(() => wake());
  }

  const turn = () => (document.hidden ? connection.abort() : reopen());
  const drop = () => connection.abort();

  function close() {
    closed = true;
    connection.abort();
    wake();
    document.removeEventListener("visibilitychange", turn);
    removeEventListener("online", reopen);
    removeEventListener("offline", drop);
  }

  document.addEventListener("visibilitychange", turn);
  addEventListener("online", reopen);
  addEventListener("offline", drop);
  run();
  return { close };
}
