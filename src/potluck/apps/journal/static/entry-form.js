// Writing an entry: tags become chips, the device says its time zone, and what is typed is kept as a draft.
//
//   <form data-draft="new" data-draft-key="…">      data-draft="ID:VERSION" when editing an entry
//   data-draft-refused                             the form holds what was just sent, which is newer than any draft

import { all, maybe, one, stamp } from "../../../web/static/js/kit/elements.js";
import { asLocal, timeZone } from "../../../web/static/js/kit/time.js";
import { keepDraft } from "./drafts.js";

const form = one(document, "#entry-form", HTMLFormElement);
const when = one(document, "#when", HTMLInputElement);

// --- the time zone, for people who have never set one ---

const zone = maybe(form, "[data-zone]", HTMLInputElement);
if (zone && timeZone()) {
  zone.value = timeZone();
  zone.disabled = false;
  one(document, "[data-zone-said]").textContent = timeZone();
  when.max = asLocal(new Date());
}

// --- tags ---

const chips = one(form, "[data-tags]");
const typed = one(form, "#new-tags", HTMLInputElement);
const boxes = () => all(chips, "input", HTMLInputElement);

/** @param {string} text */
function tag(text) {
  const known = boxes().find((box) => box.value.toLowerCase() === text.toLowerCase());
  if (known) known.checked = true;
  else {
    const chip = stamp("tag-chip");
    one(chip, "input", HTMLInputElement).value = text;
    one(chip, ".chip").append(text);
    chips.append(chip);
  }
}

function addTyped() {
  for (const text of typed.value.split(",")) if (text.trim()) tag(text.trim());
  typed.value = "";
  typed.dispatchEvent(new Event("input", { bubbles: true }));
}

one(form, "[data-add-tag]").addEventListener("click", () => {
  addTyped();
  typed.focus();
});
typed.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !typed.value.trim()) return;
  event.preventDefault();
  addTyped();
});

// --- the draft ---

const NOT_TYPED = new Set(["version", "base", "entryId", "timeZone"]);

const values = () => {
  const fields = /** @type {[string, string][]} */ ([...new FormData(form)]);
  return fields.filter(([name, value]) => !NOT_TYPED.has(name) && !(name === "tags" && !value));
};

/** @param {[string, string][]} filled */
function fill(filled) {
  /** @param {string} name */
  const valuesOf = (name) => filled.filter(([other]) => other === name).map(([, value]) => value);
  for (const box of boxes()) box.checked = false;
  valuesOf("tags").forEach(tag);
  for (const input of /** @type {Iterable<HTMLInputElement>} */ (form.elements)) {
    if (!input.name || NOT_TYPED.has(input.name) || input.name === "tags") continue;
    const [value] = valuesOf(input.name);
    if (input.type === "radio") input.checked = input.value === value;
    else if (value !== undefined) {
      input.value = value;
      // Steppers update their display on this event.
      input.dispatchEvent(new Event("input"));
    }
  }
  if (when.value) when.closest("details")?.setAttribute("open", "");
}

const save = await keepDraft(form, form.dataset.draft ?? "", { values, fill });

form.addEventListener("input", save);
form.addEventListener("change", save);
when.addEventListener("input", save);

// --- submitting only once ---

form.addEventListener("submit", (event) => {
  if (form.dataset.sent !== undefined) event.preventDefault();
  form.dataset.sent = "";
  addTyped();
});
addEventListener("pageshow", () => delete form.dataset.sent);
