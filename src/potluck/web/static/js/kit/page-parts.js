// Parts of a page, fetched anew and put in place of those that are shown.

import { all, maybe } from "./elements.js";
import { request } from "./send.js";

export const TYPING = "input:not([type=checkbox], [type=radio], [type=hidden]), textarea";
const CONTROLS = "a[href], button, input, textarea, select, summary";

/**
 * The page at an address, or the one that answers a form; null if there is none.
 * @param {string | URL} address
 * @param {RequestInit} [options]
 */
export async function fetchPage(address, options = {}) {
  const response = await request(address, { ...options, headers: { accept: "text/html", ...options.headers } });
  const text = await response?.text().catch(() => null);
  if (!response || typeof text !== "string") return null;
  const page = new DOMParser().parseFromString(text, "text/html");
  // Only one page gets a flash message.
  for (const toast of all(page, "#toasts > .toast")) document.getElementById("toasts")?.replaceChildren(toast);
  return { page, ok: response.ok, address: response.url, redirected: response.redirected };
}

/** Whether an element has typed text that is not sent yet. @param {Element} element */
export const isTypedInto = (element) =>
  [...all(element, TYPING, HTMLInputElement), /** @type {HTMLInputElement} */ (element)].some(
    (field) => field.value !== field.defaultValue,
  );

/**
 * Puts the newer version of an element in its place. What is the same by id and content stays, and so do the focus and
 * what is unfolded.
 * @param {Element} shown
 * @param {Element} fresh
 */
export function swap(shown, fresh) {
  const focused = shown.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
  const byKey = focused?.matches(":focus-visible");
  const named = focused?.closest("[id]");
  const place = focused && named ? all(named, CONTROLS).indexOf(focused) : -1;
  document.adoptNode(fresh);
  const open = new Map(all(shown, "details", HTMLDetailsElement).map((fold) => [summaryOf(fold), fold.open]));
  for (const fold of all(fresh, "details", HTMLDetailsElement)) fold.open = open.get(summaryOf(fold)) ?? fold.open;
  for (const part of all(fresh, "[id]")) {
    const before = byId(shown, part.id);
    if (before?.isEqualNode(part) && !isTypedInto(before)) part.replaceWith(before);
  }
  shown.replaceWith(fresh);
  if (!focused || !named || document.activeElement === focused) return;
  const there = focused.isConnected ? named : byId(fresh, named.id);
  const again = place < 0 ? there : there && (all(there, CONTROLS)[place] ?? all(there, CONTROLS)[0]);
  // People who use a keyboard have to see where they are; others keep their scroll position.
  if (again) /** @type {HTMLElement} */ (again).focus({ preventScroll: !byKey });
}

/** @param {Element} within @param {string} id */
const byId = (within, id) => (within.id === id ? within : maybe(within, `#${CSS.escape(id)}`));

// Numbers in it may change.
/** @param {Element} fold */
const summaryOf = (fold) => maybe(fold, "summary")?.textContent?.replace(/\d+/g, "").trim();
