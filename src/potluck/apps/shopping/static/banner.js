// The banner above a page that cannot send everything at once: the reason, and how many changes are waiting.

import { element } from "../../../web/static/js/kit/elements.js";
import { icon } from "./elements.js";

// How long, in milliseconds, a change may be in flight before the banner counts it as waiting.
export const UNDER_WAY = 1500;

/** @param {string} sign @param {string} fact @param {string} more @param {Element | null} [link] */
export function banner(sign, fact, more, link = null) {
  const words = element("span", {}, element("strong", {}, fact), more && element("span", { class: "num" }, more));
  return element("div", { class: "banner" }, icon(sign), words, link);
}

/**
 * Null if there is nothing to say. `what` names what the page shows; `link` leads to what can be done about waiting changes.
 * @param {string} state
 * @param {import("./changes.js").Change[]} changes
 * @param {string} what
 * @param {Element | null} [link]
 */
export function bannerOf(state, changes, what, link = null) {
  const count = changes.length;
  const wait = count ? `${count} ${count === 1 ? "change waits" : "changes wait"} here.` : "";
  const isLate = count && Date.now() - changes[0].at > 2 * UNDER_WAY;
  if (state === "not-yours") {
    const families = element("a", { href: "/shopping" }, "Your families");
    return banner(
      "lock",
      `This ${what} is not open to you any more`,
      "You were taken off it, or it is gone.",
      families,
    );
  }
  if (state === "signed-out") {
    const more = wait ? `${wait} Sign in, and they are sent.` : `The ${what} is as it was last.`;
    const signIn = element("a", { href: `/sign-in?next=${encodeURIComponent(location.pathname)}` }, "Sign in");
    return banner("lock", "You are signed out", more, signIn);
  }
  if (state !== "no-signal" && state !== "later" && !isLate) return null;
  const [sign, fact] = state === "no-signal" ? ["cloud-off", "No signal, carry on"] : ["clock", "One moment"];
  return banner(sign, fact, wait || "What you change here is kept, and sent later.", link);
}

// Replaces it only if it differs, because a screen reader reads out every change.
/** @param {HTMLElement} place @param {HTMLElement | null} shown */
export function putBanner(place, shown) {
  const drawn = shown?.outerHTML ?? "";
  if (place.dataset.drawn === drawn) return;
  const isFocused = place.contains(document.activeElement);
  place.dataset.drawn = drawn;
  place.replaceChildren(...(shown ? [shown] : []));
  if (isFocused) /** @type {HTMLElement | null} */ (place.querySelector("button, a"))?.focus();
}
