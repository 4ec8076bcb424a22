// Writing an entry: tags become chips, the device says its time zone, and what is typed is kept as a draft.
//
//   <form data-draft="new" data-draft-key="…">      data-draft="ID:VERSION" when editing an entry
//   data-draft-refused                             the form holds what was just sent, which is newer than any draft

import { drop, found, keep, lasting } from "./drafts.js";

const form = document.getElementById("entry-form");
const said = form.querySelector("[data-draft-said]");
const [name, version = ""] = form.dataset.draft.split(":");
const key = form.dataset.draftKey;
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

// --- the time zone, for people who have never set one ---

const zone = form.querySelector("[data-zone]");
if (zone) {
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
  zone.disabled = !zone.value;
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

const NOT_TYPED = new Set(["version", "entryId", "timeZone"]);
const filledIn = () => [...new FormData(form)].filter(([field, value]) => !NOT_TYPED.has(field) && !(field === "tags" && !value));
const untouched = JSON.stringify(filledIn());
let waiting = null;

// One at a time, so that the last save wins.
async function save() {
  if (waiting) return (waiting.again = true);
  waiting = { again: true };
  while (waiting.again) {
    waiting.again = false;
    const values = filledIn();
    if (JSON.stringify(values) === untouched) {
      drop(name);
      said.textContent = "";
    } else if (await keep(name, { values, version, at: Date.now() }, key)) {
      said.textContent = lasting ? "Draft kept on this device" : "Draft kept while this tab is open";
    }
  }
  waiting = null;
  return undefined;
}

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
  const when = document.getElementById("when");
  if (when.value) when.closest("details")?.setAttribute("open", "");
}

function offerToStartOver(at) {
  const away = document.createElement("button");
  away.type = "button";
  away.className = "bare small";
  away.textContent = "Start over";
  away.addEventListener("click", () => {
    fill(JSON.parse(untouched));
    save();
    form.querySelector("input[name=intensity]").focus();
  });
  said.replaceChildren(`Draft from ${clock.format(at)}. `, away);
}

if (form.dataset.draftRefused === undefined) {
  const draft = await found(name, key);
  if (draft && draft.version === version) {
    fill(draft.values);
    offerToStartOver(new Date(draft.at));
  } else if (draft) drop(name);
} else save();

form.addEventListener("input", save);
form.addEventListener("change", save);
document.getElementById("when").addEventListener("input", save);
document.querySelector("[data-draft-drop]")?.addEventListener("click", () => drop(name));

// --- submitting only once ---

form.addEventListener("submit", (event) => {
  if (form.dataset.sent !== undefined) return event.preventDefault();
  form.dataset.sent = "";
  addTyped();
  return undefined;
});
addEventListener("pageshow", () => delete form.dataset.sent);
