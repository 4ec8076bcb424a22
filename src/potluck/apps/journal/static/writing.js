// Writing an entry: tags become chips, the device says its time zone, and what is typed is kept as a draft.
//
//   <form data-draft="new" data-draft-key="…">      data-draft="ID:VERSION" when editing an entry
//   data-draft-refused                             the form holds what was just sent, which is newer than any draft

import { drafted, drop } from "./drafts.js";

const form = document.getElementById("entry-form");
const when = document.getElementById("when");
const [name, version = ""] = form.dataset.draft.split(":");

// --- the time zone, for people who have never set one ---

const zone = form.querySelector("[data-zone]");
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && here) {
  zone.value = here;
  zone.disabled = false;
  document.querySelector("[data-zone-said]").textContent = here;
  const now = new Date();
  when.max = new Date(now - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

// --- tags ---

const chips = form.querySelector("[data-tags]");
const typed = form.querySelector("#new-tags");
const boxes = () => [...chips.querySelectorAll("input")];

function tag(text) {
  const known = boxes().find((box) => box.value.toLowerCase() === text.toLowerCase());
  if (known) known.checked = true;
  else {
    const chip = document.getElementById("tag-chip").content.cloneNode(true);
    chip.querySelector("input").value = text;
    chip.querySelector(".chip").append(text);
    chips.append(chip);
  }
}

function addTyped() {
  for (const text of typed.value.split(",").map((each) => each.trim()).filter(Boolean)) tag(text);
  typed.value = "";
  typed.dispatchEvent(new Event("input", { bubbles: true }));
}

form.querySelector("[data-add-tag]").addEventListener("click", () => {
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
const filledIn = () => [...new FormData(form)].filter(([field, value]) => !NOT_TYPED.has(field) && !(field === "tags" && !value));

function fill(values) {
  const of = (field) => values.filter(([each]) => each === field).map(([, value]) => value);
  for (const box of boxes()) box.checked = false;
  of("tags").forEach(tag);
  for (const field of form.elements) {
    if (!field.name || NOT_TYPED.has(field.name) || field.name === "tags") continue;
    if (field.type === "radio") field.checked = of(field.name).includes(field.value);
    else if (of(field.name).length) {
      [field.value] = of(field.name);
      // Steppers update their display on this event.
      field.dispatchEvent(new Event("input"));
    }
  }
  if (when.value) when.closest("details")?.setAttribute("open", "");
}

const save = await drafted({
  name,
  version,
  key: form.dataset.draftKey,
  refused: form.dataset.draftRefused !== undefined,
  filledIn,
  fill,
  said: form.querySelector("[data-draft-said]"),
  older(onto) {
    form.elements.version.value = onto;
    // What that version said is not known here: a conflict asks about every field that differs.
    form.elements.base.value = "";
  },
});

form.addEventListener("input", save);
form.addEventListener("change", save);
when.addEventListener("input", save);
document.querySelector("[data-discard]")?.addEventListener("click", () => drop(name));

// --- submitting only once ---

form.addEventListener("submit", (event) => {
  if (form.dataset.sent !== undefined) return event.preventDefault();
  form.dataset.sent = "";
  addTyped();
  return undefined;
});
addEventListener("pageshow", () => delete form.dataset.sent);
