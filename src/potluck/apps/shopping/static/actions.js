// What people do on the list: each change is shown, stored, and sent as soon as the server can be reached.

import { all, element, maybe, one } from "../../../web/static/js/kit/elements.js";
import { OtherPerson } from "../../../web/static/js/kit/outbox-store.js";
import { afterPress } from "../../../web/static/js/kit/press-guard.js";
import { newId, send } from "../../../web/static/js/kit/send.js";
import { NotOpened } from "../../../web/static/js/kit/store.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";
import { UNDER_WAY } from "./banner.js";
import { amount, FIELDS } from "./changes.js";
import { icon, sentence, undoable } from "./elements.js";
import { fold, readLines } from "./line-parser.js";
import * as store from "./offline-store.js";
import { rows } from "./rows.js";
import { api, familyId, lingering, list, page, part, root, update } from "./state.js";
import { announce, apply, changed, deliver, reread } from "./sync.js";

/** @typedef {import("./changes.js").Item} Item */
/** @typedef {import("./line-parser.js").Line} Line */
/** @typedef {Record<string, any>} Values */

// How long, in milliseconds, a ticked row stays where it was.
const LINGERS = 450;
export const LONGEST_NAME = 100;
const MOST_LINES = 50;
const MOST = 100_000;

export const tooLong = () =>
  ngettext("Use up to %(num)s character per item.", "Use up to %(num)s characters per item.", LONGEST_NAME);

const still = matchMedia("(prefers-reduced-motion: reduce)");
export const addBox = one(document, "#add", HTMLTextAreaElement);

/**
 * Shows a change, stores it and sends it; resolves to whether it could be stored.
 * @param {import("./changes.js").Kind} kind
 * @param {string} id
 * @param {Partial<import("./changes.js").Change>} details
 */
export async function make(kind, id, details) {
  const change = /** @type {import("./changes.js").Change} */ ({
    place: familyId(),
    person: list().person.id,
    kind,
    id,
    was: page.shown.get(id) ?? null,
    key: newId(),
    seen: null,
    sent: false,
    at: Date.now(),
    values: {},
    before: {},
    ...details,
  });
  page.unstored.add(change);
  update();
  try {
    await store.addChange(change);
  } catch (error) {
    page.unstored.delete(change);
    update();
    // If another person is signed in by now, show their page. If nothing can be stored at all, the forms take over.
    if (error instanceof OtherPerson) location.reload();
    else if (!(error instanceof NotOpened) || "ready" in root.dataset)
      toast(_("This device is out of storage space. Nothing was changed."));
    return false;
  }
  await reread(change);
  announce();
  for (const time of [1, 2]) setTimeout(update, time * UNDER_WAY + 50);
  deliver();
  return true;
}

/** Drops fields without a value. @param {Values} values */
const withValue = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value != null));

// --- adding ---

/** @param {string} name */
const suggestion = (name) => list().suggestions.find((other) => fold(other.name) === fold(name));

/** @param {Line} line */
function add({ name, quantity, unit }) {
  const known = suggestion(name);
  const storeId = page.filter && page.filter !== "unassigned" ? page.filter : null;
  const shown = {
    name: known?.name ?? name,
    unit: unit ?? known?.unit ?? null,
    storeId: storeId ?? known?.storeId ?? null,
  };
  const values = known?.itemId ? { quantity, unit, storeId, itemId: known.itemId } : { ...shown, quantity, name };
  return make("add", newId(), { values: withValue(values), shown });
}

/** Adds what was on the list again, as a new item. @param {Values} item */
export function putBack(item) {
  const values = Object.fromEntries([...FIELDS, "itemId"].map((field) => [field, item[field]]));
  return make("add", newId(), { values: withValue(values), shown: {} });
}

// Adds what is typed in the box. Validates at once, so that the box is free for the next. Null if it is invalid, else a promise
// of the outcome.
export function addTyped() {
  const lines = readLines(addBox.value);
  document.getElementById("add-error")?.remove();
  addBox.removeAttribute("aria-invalid");
  const wrong = lines.some(({ name }) => [...name].length > LONGEST_NAME)
    ? tooLong()
    : lines.length > MOST_LINES
      ? ngettext("Add up to %(num)s item at a time.", "Add up to %(num)s items at a time.", MOST_LINES)
      : "";
  if (wrong) {
    addBox.setAttribute("aria-invalid", "true");
    addBox.setAttribute("aria-describedby", "add-error");
    const attributes = { class: "error", id: "add-error", role: "alert" };
    one(document, "#adding").append(element("p", attributes, icon("triangle-alert"), element("span", {}, wrong)));
    return null;
  }
  addBox.value = "";
  return addAll(lines);
}

/** Resolves to whether all of them could be stored. @param {Line[]} lines */
export async function addAll(lines) {
  // All at once: each is shown before it is stored, so that the next one finds it on the list.
  const results = await Promise.all(lines.map(addOne));
  const left = lines.filter((_, index) => results[index] === false);
  const typed = left.map(({ quantity, unit, name }) => [quantity, unit, name].filter(Boolean).join(" "));
  // What could not be stored goes back into the box, to be sent by the form.
  if (left.length) addBox.value = [...typed, addBox.value].filter(Boolean).join("\n");
  else if (lines.length > 1) {
    // Duplicates are not counted: a question about them is shown.
    const added = results.filter((result) => result !== ASKED).length;
    if (added) toast(ngettext("%(num)s item added", "%(num)s items added", added));
  }
  return left.length === 0;
}

// Neither stored nor refused: the person is asked what they mean.
const ASKED = "asked";

/** @param {Line} line */
async function addOne(line) {
  /** @param {Item} item */
  const isSame = ({ name }) => fold(name) === fold(line.name);
  const existing = [...page.shown.values()].find((item) => item.status === "pending" && isSame(item));
  if (!existing) return add(line);
  const itemId = suggestion(line.name)?.itemId;
  const values = withValue({ ...line, ...(itemId && { itemId, name: null }) });
  const notice = { kind: "duplicate", existing, change: { values, shown: { name: line.name } } };
  try {
    await store.addNotice(familyId(), list().person.id, notice);
  } catch {
    return false;
  }
  await reread();
  announce();
  afterPress(() => {
    const asked = part("notices").lastElementChild;
    asked?.scrollIntoView({ block: "nearest" });
    asked?.querySelector("button")?.focus();
  });
  return ASKED;
}

// --- ticking, counting ---

/** @param {HTMLElement | undefined} row */
const boxOf = (row) => row && maybe(row, '[role="checkbox"]');

/** Where the focus goes when its row leaves. @param {HTMLElement} row */
function neighbourOf(row) {
  const boxes = all(part("groups"), '[role="checkbox"]');
  const index = boxes.findIndex((box) => row.contains(box));
  return boxes[index + 1] ?? boxes[index - 1] ?? addBox;
}

/** @param {string} id @param {string} status */
export async function tick(id, status) {
  const item = page.shown.get(id);
  if (!item) return;
  const row = rows.get(id);
  if (status === "purchased") {
    const isFocused = () => row?.contains(document.activeElement);
    const next = row && isFocused() ? neighbourOf(row) : null;
    lingering.add(id);
    const leave = () => {
      lingering.delete(id);
      const wasFocused = isFocused();
      update();
      if (wasFocused) afterPress(() => next?.focus({ preventScroll: true }));
    };
    setTimeout(leave, still.matches ? 0 : LINGERS);
    undoable(_("%(name)s purchased", { name: item.name }), async () => {
      await tick(id, "pending");
      return boxOf(rows.get(id));
    });
  } else lingering.delete(id);
  return make("status", id, { values: { status }, before: { status: item.status }, seen: item.version });
}

/** @param {string} id @param {number} quantity */
export async function count(id, quantity) {
  const item = page.shown.get(id);
  if (!item || quantity < 1 || quantity > MOST || quantity === (item.quantity ?? 1)) return;
  return make("edit", id, { values: { quantity }, before: { quantity: item.quantity }, seen: item.version });
}

// --- what only the server can do ---

/** @param {string} path */
async function ask(path, json = {}) {
  const { outcome, body, message } = await send(`${api()}/${path}`, { json, key: newId() });
  if (outcome === "done") return body;
  toast(outcome === "no-signal" ? _("You’re offline. Try again when you’re back online.") : sentence(message));
  return null;
}

/** @param {string} id */
export async function restock(id) {
  const item = page.shown.get(id);
  const answer = await ask(`shopping-list/${id}/restock`);
  if (!answer) return;
  apply("updated", answer.shoppingItem);
  const values = { name: item?.name ?? "", amount: amount(answer.inventoryItem) };
  toast(_("%(name)s restocked. You have %(amount)s.", values));
}

export async function clear() {
  const answer = await ask("shopping-list/clear-purchased");
  if (!answer) return;
  for (const [id, item] of page.items) if (item.status === "purchased") page.items.delete(id);
  changed();
  addBox.focus({ preventScroll: true });
  if (!answer.undoToken) return;
  undoable(ngettext("%(num)s item cleared", "%(num)s items cleared", answer.cleared), async () => {
    const back = await ask("undo", { undoToken: answer.undoToken });
    for (const item of back?.items ?? []) page.items.set(item.shoppingItemId, item);
    if (back) changed();
    return one(part("purchased"), "summary");
  });
}
