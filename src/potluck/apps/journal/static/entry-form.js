// Writing an entry: tags become chips, the device says its time zone, what is typed is kept as a draft, and a new entry that
// is saved offline waits on the device.
//
//   <form data-draft="new" data-draft-key="…">      data-draft="ID:VERSION" when editing an entry
//   data-draft-refused                             the form holds what was just sent, which is newer than any draft

import { all, field, maybe, one, stamp } from "../../../web/static/js/kit/elements.js";
import { newId, request } from "../../../web/static/js/kit/send.js";
import { asLocal, timeZone } from "../../../web/static/js/kit/time.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { _ } from "../../../web/static/js/kit/words.js";
import { drop, keepDraft } from "./drafts.js";
import { keepEntry } from "./outbox.js";
import { keyOf } from "./sealing.js";
import { sendUnsent, showUnsent } from "./unsent-entries.js";

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

// As the server made it, before a draft is put in.
const blank = JSON.stringify(values());
const save = await keepDraft(form, form.dataset.draft ?? "", { values, fill });

form.addEventListener("input", save);
form.addEventListener("change", save);
when.addEventListener("input", save);

// --- offline: a new entry is kept, and sent later ---

const isNew = form.dataset.draft === "new";
const { savedAt } = document.body.dataset;
const key = isNew ? await keyOf(form.dataset.draftKey) : null;

/** The form for another entry. */
function startOver() {
  field(form, "entryId").value = newId();
  fill(JSON.parse(blank));
  drop("new");
  save();
}

/** @param {SubmitEvent} event */
async function keepOrSend(event) {
  event.preventDefault();
  addTyped();
  if (await request("/livez")) {
    form.dataset.reached = "";
    form.requestSubmit(event.submitter);
    return;
  }
  const fields = /** @type {HTMLInputElement[]} */ ([...form.elements]);
  const wrong = fields.find(({ validity }) => validity && !validity.valid);
  if (wrong) {
    toast(wrong.name === "intensity" ? _("Choose how hard it was, from 1 to 10.") : wrong.validationMessage);
    wrong.focus();
    return;
  }
  // The server would take the time at which it arrives.
  if (!when.value) when.value = asLocal(new Date());
  const values = /** @type {[string, string][]} */ ([...new FormData(form)]);
  try {
    await keepEntry(values, field(form, "entryId").value, /** @type {CryptoKey} */ (key));
  } catch {
    toast(_("You’re offline. Nothing was sent, and what you typed is still here."));
    return;
  }
  startOver();
  await showUnsent();
  toast(_("Entry saved on this device."));
}

if (key) {
  // It is kept, not held back.
  delete form.dataset.needsSignal;
  // A saved page has the id of the form that was saved.
  if (savedAt) field(form, "entryId").value = newId();
  /** @param {[string, string][]} fields */
  const reopen = (fields) => {
    field(form, "entryId").value = fields.find(([name]) => name === "entryId")?.[1] ?? newId();
    fill(fields);
    save();
  };
  sendUnsent(key, { fill: reopen, isEmpty: () => JSON.stringify(values()) === blank });
}

// --- submitting only once ---

form.addEventListener("submit", (event) => {
  if (key && (!navigator.onLine || savedAt) && form.dataset.reached === undefined) {
    keepOrSend(event);
    return;
  }
  delete form.dataset.reached;
  if (form.dataset.sent !== undefined) event.preventDefault();
  form.dataset.sent = "";
  addTyped();
});
addEventListener("pageshow", () => delete form.dataset.sent);
