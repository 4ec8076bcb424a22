// Drafts: what a person has typed but not saved, stored on this device for them alone.
//
// A draft is encrypted with a key that the server gives only to its author, so the next person at this device cannot read
// it, even without signing out. Browsers offer no encryption on pages served over plain http: there a draft is kept
// unencrypted, in this tab, until the tab is closed. Signing out deletes both: see js/sign-out.js.

import { element, field, maybe, one } from "../../../web/static/js/kit/elements.js";
import { clock } from "../../../web/static/js/kit/time.js";
import { coalesced } from "../../../web/static/js/kit/turns.js";
import { _ } from "../../../web/static/js/kit/words.js";
import { isSealed, keyOf, seal, unsealed } from "./sealing.js";

/** @typedef {[string, string][]} Values */
// `onto` is the refused form that it was typed onto.
/** @typedef {{ values: Values, version: string, at: number, onto: string }} Draft */

const PREFIX = `potluck-draft-journal-${document.body.dataset.person}-`;

// Storage can be forbidden, or full; then there is no draft.
function storage() {
  try {
    return isSealed ? localStorage : sessionStorage;
  } catch {
    return null;
  }
}

/** Resolves to whether it could be stored. @param {string} name @param {Draft} draft @param {CryptoKey | null} key */
async function store(name, draft, key) {
  if (isSealed && !key) return false;
  try {
    storage()?.setItem(PREFIX + name, key ? await seal(PREFIX + name, draft, key) : JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

// The draft, if there is one that can be decrypted.
/** @param {string} name @param {CryptoKey | null} key @returns {Promise<Draft | null>} */
export async function load(name, key) {
  const text = storage()?.getItem(PREFIX + name);
  if (!text || (isSealed && !key)) return null;
  try {
    return key ? await unsealed(PREFIX + name, text, key) : JSON.parse(text);
  } catch {
    drop(name);
    return null;
  }
}

/** @param {string} name */
export const drop = (name) => storage()?.removeItem(PREFIX + name);

/**
 * Keeps what is typed into a form until a page says that it was saved, and restores it when the form is opened again.
 *
 * `of` is the name of the draft, with a colon and the version of what is edited, if it is not new. Resolves to the function
 * to call whenever something was typed.
 * @param {HTMLFormElement} form
 * @param {string} of
 * @param {{ values: () => Values, fill: (values: Values) => void }} filled
 */
export async function keepDraft(form, of, { values, fill }) {
  const [name, version = ""] = of.split(":");
  const { draftRefused } = form.dataset;
  // On a slow device people type before this runs: that is neither what the page came with, nor to be replaced by a draft.
  const isTyped = () =>
    [...form.querySelectorAll("textarea")].some(({ value, defaultValue }) => value !== defaultValue);
  const untouched = isTyped() ? "" : JSON.stringify(values());
  const key = await keyOf(form.dataset.draftKey);
  // The form holds what was just sent and refused.
  const isRefused = draftRefused !== undefined;
  const status = one(form, "[data-draft-said]");

  const save = coalesced(async () => {
    const typed = values();
    const draft = { values: typed, version, at: Date.now(), onto: isRefused ? untouched : "" };
    // What was refused is saved nowhere else, even if nothing was typed since.
    if (!isRefused && JSON.stringify(typed) === untouched) {
      drop(name);
      status.textContent = "";
    } else if (await store(name, draft, key)) {
      status.textContent = isSealed ? _("Draft kept on this device") : _("Draft kept while this tab is open");
    }
  });

  /** It is saved onto the version that it was typed onto. @param {string} onto */
  function follow(onto) {
    field(form, "version").value = onto;
    // What that version said is not known here: a conflict asks about every field that differs.
    field(form, "base").value = "";
  }

  /** @param {Draft} draft */
  function restore({ values: typed, at, version: onto = "" }) {
    fill(typed);
    const isOlder = onto !== version;
    if (isOlder) follow(onto);
    const startOver = () => {
      fill(JSON.parse(untouched));
      if (isOlder) follow(version);
      save();
    };
    const time = clock(at);
    const about = isOlder
      ? _("Draft from %(time)s. The saved version has changed since then: when you save, you see both.", { time })
      : _("Draft from %(time)s.", { time });
    const button = element("button", { type: "button", class: "bare small", onclick: startOver }, _("Start over"));
    status.replaceChildren(`${about} `, button);
  }

  const draft = await load(name, key);
  // After a refusal, the draft is newer only if it was typed onto this same page: a reload sends the form again.
  if (isTyped()) save();
  else if (draft && untouched && (!isRefused || draft.onto === untouched)) restore(draft);
  else if (isRefused) await save();
  maybe(document, "[data-discard]")?.addEventListener("click", () => drop(name));
  return save;
}
