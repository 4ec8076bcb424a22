// How many people are viewing, votes still being counted, and what to do once this person may no longer view it.

import { all, maybe } from "../../../web/static/js/kit/elements.js";
import { onChildren } from "../../../web/static/js/kit/events.js";
import { refresh } from "../../../web/static/js/kit/live.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";

// While votes come in, the page shows the last count, and is fetched again for as long as that is behind.
const BEHIND = 1500;
let timer = 0;

function lookAgain() {
  clearTimeout(timer);
  const list = maybe(document, "[data-behind]")?.closest("[data-live]");
  if (!list) return;
  timer = setTimeout(() => {
    if (!document.hidden) refresh(list);
    lookAgain();
  }, BEHIND);
}

onChildren(document.getElementById("contents") ?? document.body, lookAgain);
lookAgain();

document.addEventListener("potluck:heard", (event) => {
  const { name, data } = /** @type {CustomEvent} */ (event).detail;
  if (name === "over") location.reload();
  if (name !== "looking") return;
  const { people } = JSON.parse(data);
  for (const badge of all(document, "[data-live-badge]")) {
    badge.dataset.liveSaid =
      people > 1 ? ngettext("%(num)s person here now", "%(num)s people here now", people) : _("Just you here");
    if (!badge.classList.contains("off")) badge.textContent = badge.dataset.liveSaid;
  }
});

// It expired, its passcode was replaced, or it was deleted: reloading the page says which.
document.addEventListener("potluck:over", () => location.reload());
