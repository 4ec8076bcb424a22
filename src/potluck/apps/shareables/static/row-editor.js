// Creating one: rows, a new one with each Enter, in place of one large field. That field is still what is sent.

import { childrenOf, field, maybe, one, stamp } from "../../../web/static/js/kit/elements.js";
import { on } from "../../../web/static/js/kit/events.js";
import { _, linesOf } from "../../../web/static/js/kit/words.js";

const part = one(document, "[data-lines]");
const area = one(part, "textarea", HTMLTextAreaElement);
const list = one(part, "[data-rows]");
const next = one(part, "[data-next]");
const typed = one(next, "input", HTMLInputElement);
let number = 0;

/** @param {HTMLElement} row */
const inputOf = (row) => one(row, "input", HTMLInputElement);

function follow() {
  const rows = childrenOf(list);
  const lines = [...rows.map(inputOf), typed].map((input) => input.value);
  area.value = lines.filter((line) => line.trim()).join("\n");
  list.hidden = rows.length === 0;
  rows.forEach((row, place) => {
    inputOf(row).setAttribute("aria-label", _("Item %(number)s", { number: place + 1 }));
    one(row, "[data-take]").setAttribute("aria-label", _("Remove %(name)s", { name: inputOf(row).value }));
  });
}

/** @param {string} text */
function add(text) {
  for (const line of linesOf(text)) {
    const row = stamp("line");
    number += 1;
    row.id = `line-${number}`;
    inputOf(row).value = line;
    list.append(row);
  }
  typed.value = "";
  follow();
}

/** @param {HTMLElement} row */
function take(row) {
  const neighbour = /** @type {HTMLElement | null} */ (row.nextElementSibling ?? row.previousElementSibling);
  row.remove();
  follow();
  (neighbour ? one(neighbour, "[data-take]") : typed).focus();
}

function addTyped() {
  add(typed.value);
  typed.focus();
}

area.hidden = true;
next.hidden = false;
one(part, "label", HTMLLabelElement).htmlFor = typed.id;
add(area.value);

// Enter in the name goes on to the items.
field(/** @type {HTMLFormElement} */ (area.form), "name").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  typed.focus();
});
one(next, "button").addEventListener("click", addTyped);
on(part, "keydown", "input", (input, event) => {
  const row = /** @type {HTMLElement | null} */ (input.closest("li"));
  const isEmpty = /** @type {HTMLInputElement} */ (input).value === "";
  if (event.key === "Backspace" && row && isEmpty) take(row);
  // Enter adds a row here instead of submitting the form.
  else if (event.key !== "Enter" || event.isComposing) return;
  else if (!row) addTyped();
  else (row.nextElementSibling ? maybe(row.nextElementSibling, "input") : typed)?.focus();
  event.preventDefault();
});
typed.addEventListener("input", follow);
typed.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text") ?? "";
  if (!text.trim().includes("\n")) return;
  event.preventDefault();
  add(typed.value + text);
});
list.addEventListener("potluck:moved", follow);
list.addEventListener("input", follow);
on(list, "click", "[data-take]", (button) => take(/** @type {HTMLElement} */ (button.closest("li"))));
