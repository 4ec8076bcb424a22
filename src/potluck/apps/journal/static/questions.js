// Asking: shows the question at once, while the answer is on its way; a citation's number opens it.

import { contentOf, field, maybe, one } from "../../../web/static/js/kit/elements.js";
import { on, onReturn } from "../../../web/static/js/kit/events.js";

const form = one(document, "form[data-ask], form[data-begin]", HTMLFormElement);
const question = field(form, "content");
let sent = false;

form.addEventListener("submit", (event) => {
  if (sent || !question.value.trim()) {
    event.preventDefault();
    question.focus();
    return;
  }
  sent = true;
  form.setAttribute("aria-busy", "true");
  const turns = maybe(document, "[data-turns]");
  if (!turns) return;
  const pending = contentOf("under-way");
  one(pending, ".mine p").textContent = question.value;
  turns.append(pending);
  turns.lastElementChild?.scrollIntoView({ block: "end" });
});
// Restored from the back/forward cache, it would still show the question as pending.
onReturn(() => location.reload());

on(document, "click", "[data-example]", (example) => {
  question.value = example.textContent ?? "";
  question.focus();
});

on(document, "click", "a.ref", (number, event) => {
  const cited = maybe(document, `${/** @type {HTMLAnchorElement} */ (number).hash} details`, HTMLDetailsElement);
  if (!cited) return;
  event.preventDefault();
  cited.open = true;
  one(cited, "summary").focus();
});
