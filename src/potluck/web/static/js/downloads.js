// A form whose response is a file: data-download has the file's name. It is fetched here, so that the page can show progress;
// without this script the browser downloads it by itself.

import { enable, isEnabled, one } from "./kit/elements.js";
import { on } from "./kit/events.js";
import { request } from "./kit/send.js";
import { _, numbered } from "./kit/words.js";

// In milliseconds. A long history takes its time.
const PATIENCE = 10 * 60_000;

/** @param {number} bytes */
const sizeOf = (bytes) =>
  bytes < 1e6 ? `${numbered(Math.ceil(bytes / 1e3))} kB` : `${numbered(Math.round(bytes / 1e5) / 10)} MB`;

/** @param {Response} response @param {(bytes: number) => void} progress */
async function received(response, progress) {
  const pieces = [];
  let bytes = 0;
  for (const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces, { type: response.headers.get("content-type") ?? "" });
    pieces.push(value);
    bytes += value.length;
    progress(bytes);
  }
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {string} header */
function nameIn(header) {
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(header)?.[1];
  return encoded ? decodeURIComponent(encoded) : /filename="([^"]+)"/.exec(header)?.[1];
}

// Downloads the file, and resolves to what the page says then.
/** @param {HTMLFormElement} form @param {(text: string) => void} say */
async function download(form, say) {
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  const response = await request(form.action, { method: "POST", body, wait: PATIENCE });
  if (!response) return _("The connection was lost. Try again when you’re online.");
  if (response.status === 401) return _("You’re signed out. Sign in and try again.");
  if (!response.ok) return _("The file couldn’t be prepared. Try again in a moment.");
  const named = nameIn(response.headers.get("content-disposition") ?? "");
  const blob = await received(response, (bytes) =>
    say(_("Downloading: %(size)s so far …", { size: sizeOf(bytes) })),
  ).catch(() => null);
  if (!blob) return _("The connection was lost. Try again when you’re online.");
  save(blob, named ?? form.dataset.download ?? "");
  return _("Saved to your downloads (%(size)s).", { size: sizeOf(blob.size) });
}

on(document, "submit", "form[data-download]", async (form, event) => {
  event.preventDefault();
  const status = one(form, "[data-download-said]");
  const button = one(form, "button");
  if (!isEnabled(button)) return;
  enable(button, false);
  status.textContent = _("Preparing the file …");
  status.textContent = await download(/** @type {HTMLFormElement} */ (form), (text) => (status.textContent = text));
  enable(button, true);
});
