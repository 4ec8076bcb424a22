// Sends changes of the list; a notice above it says which did not reach the server, with a retry. They last as long as the
// page is open.

import { all, maybe, one, setText, stamp } from "../../../web/static/js/kit/elements.js";
import { on } from "../../../web/static/js/kit/events.js";
import { send } from "../../../web/static/js/kit/send.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";

/** @typedef {{ count: () => number, words: (count: number) => string, again: () => void }} Kind */

const place = one(document, "[data-unsent]");
/** @type {Kind[]} */
const kinds = [];
const unsent = () => kinds.filter((kind) => kind.count() > 0);

/** Counts changes of this kind; `words` says how many wait if there is no other kind. @param {Kind} kind */
export const watch = (kind) => kinds.push(kind);

/**
 * Sends a form, and resolves to the answer; `waits` if it has to be sent again.
 * @param {string} address
 * @param {Record<string, string> | string[][]} form
 */
export async function sendForm(address, form) {
  const answer = await send(address, { form });
  // This person may no longer view it: reloading the page says why.
  if (answer.outcome === "signed-out" || answer.status === 410) location.reload();
  return { ...answer, waits: answer.outcome === "no-signal" || answer.outcome === "later" };
}

export function tell() {
  const waiting = unsent();
  if (!waiting.length) {
    place.replaceChildren();
    return;
  }
  const count = waiting.reduce((sum, kind) => sum + kind.count(), 0);
  if (!maybe(place, "strong")) place.append(stamp("try-again"));
  const [fact, more] = all(place, "strong, strong + span");
  const words = ngettext("%(num)s change isn’t saved yet.", "%(num)s changes aren’t saved yet.", count);
  setText(fact, waiting.length === 1 ? waiting[0].words(count) : words);
  const offline = _("You’re offline. Keep this page open, and your changes will sync later.");
  setText(more, navigator.onLine ? _("The server didn’t answer.") : offline);
}

const tryAgain = () => {
  for (const kind of unsent()) kind.again();
};

on(place, "click", "[data-again]", tryAgain);
addEventListener("online", tryAgain);
addEventListener("offline", tell);
document.addEventListener("potluck:live", tryAgain);
// Leaving the page now would lose them.
addEventListener("beforeunload", (event) => unsent().length && event.preventDefault());
