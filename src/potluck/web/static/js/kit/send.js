// Requests to the server: the only script that calls fetch.

import { _ } from "./words.js";

/**
 * What came of a request: `done`; `refused`, and `message` says why; `signed-out`; `later`, if the server cannot do it now;
 * `no-signal`, if no answer came, or one that is not the server's.
 * @typedef {"done" | "refused" | "signed-out" | "later" | "no-signal"} Outcome
 * @typedef {{ outcome: Outcome, status: number, type: string, body: any, message: string }} Answer
 */

// How long, in milliseconds, to wait for an answer.
const PATIENCE = 15_000;

/**
 * The response, whatever its status; null if no answer came.
 * @param {string | URL} address
 * @param {RequestInit & { wait?: number }} [options] `wait` in milliseconds, unless there is a signal
 */
export async function request(address, { wait = PATIENCE, ...options } = {}) {
  try {
    const signal = options.signal ?? AbortSignal.timeout(wait);
    const response = await fetch(address, { cache: "no-store", ...options, signal });
    // A proxy that cannot reach the server.
    return response.status === 502 || response.status === 504 ? null : response;
  } catch {
    return null;
  }
}

/** @typedef {{ method?: string, json?: unknown, form?: Record<string, string> | string[][] }} Sent */

/**
 * Sends JSON, or the fields of a form, and waits for the answer.
 * @param {string} address
 * @param {Sent & { key?: string, wait?: number }} [options] `key` is the idempotency key: with the same one, it is done once
 * @returns {Promise<Answer>}
 */
export async function send(address, { method = "POST", json, form, key, wait } = {}) {
  /** @type {Record<string, string>} */
  const headers = { accept: "application/json" };
  if (json !== undefined) headers["content-type"] = "application/json";
  if (key) headers["idempotency-key"] = key;
  const body = form ? new URLSearchParams(form) : typeof json === "string" ? json : JSON.stringify(json);
  // Potluck accepts a form that a script sends without a redirect. Any other is a proxy's, which asks to sign in.
  const response = await request(address, { method, headers, body, redirect: form ? "manual" : "follow", wait });
  return response ? answerOf(response) : noSignal();
}

/** @returns {Answer} */
const noSignal = () => ({
  outcome: "no-signal",
  status: 0,
  type: "",
  body: null,
  message: _("You’re offline. Nothing was sent."),
});

/** @param {Response} response @returns {Promise<Answer>} */
async function answerOf(response) {
  const { status, ok, type } = response;
  const isJson = /\bjson\b/.test(response.headers.get("content-type") ?? "");
  const body = isJson ? await response.json().catch(() => undefined) : null;
  // The answer broke off; or a captive portal or a proxy answers every request with a page of its own.
  if (body === undefined || type === "opaqueredirect" || (ok && status !== 204 && !isJson)) return noSignal();
  const message =
    body?.errors?.map((/** @type {any} */ error) => error.message).join(". ") || body?.detail || _("This didn’t work");
  return { outcome: outcomeOf(response), status, type: body?.type ?? "", body, message };
}

/** @param {Response} response @returns {Outcome} */
function outcomeOf({ status, ok }) {
  if (ok) return "done";
  if (status === 401) return "signed-out";
  return status === 429 || status >= 500 ? "later" : "refused";
}

/** A random id, as crypto.randomUUID, which browsers have over https only. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
