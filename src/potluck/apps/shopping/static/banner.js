// The banner above a page that cannot send everything at once: the reason, and how many changes are waiting.

import { element } from "../../../web/static/js/kit/elements.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";
import { icon } from "./elements.js";

// How long, in milliseconds, a change may be in flight before the banner counts it as waiting.
export const UNDER_WAY = 1500;

/** @param {string} sign @param {string} fact @param {string} more @param {Element | null} [link] */
export function banner(sign, fact, more, link = null) {
  const words = element("span", {}, element("strong", {}, fact), more && element("span", { class: "num" }, more));
  return element("div", { class: "banner" }, icon(sign), words, link);
}

/**
 * Null if there is nothing to say. `link` leads to what can be done about waiting changes.
 * @param {string} state
 * @param {import("./changes.js").Change[]} changes
 * @param {Element | null} [link]
 */
export function bannerOf(state, changes, link = null) {
  const count = changes.length;
  const isLate = count && Date.now() - changes[0].at > 2 * UNDER_WAY;
  if (state === "not-yours") {
    const households = element("a", { href: "/shopping" }, _("Your households"));
    const why = _("You were removed, or the household was deleted.");
    return banner("lock", _("You no longer have access to this household"), why, households);
  }
  if (state === "signed-out") {
    const more = count
      ? ngettext(
          "%(num)s change is saved here. Sign in to sync it.",
          "%(num)s changes are saved here. Sign in to sync them.",
          count,
        )
      : _("You’re looking at the last saved version.");
    const signIn = element("a", { href: `/sign-in?next=${encodeURIComponent(location.pathname)}` }, _("Sign in"));
    return banner("lock", _("You’re signed out"), more, signIn);
  }
  if (state !== "no-signal" && state !== "later" && !isLate) return null;
  const [sign, fact] = state === "no-signal" ? ["cloud-off", _("You’re offline")] : ["clock", _("Still syncing")];
  const more = count
    ? ngettext("%(num)s change is saved and will sync later.", "%(num)s changes are saved and will sync later.", count)
    : _("Changes are saved and will sync later.");
  return banner(sign, fact, more, link);
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
