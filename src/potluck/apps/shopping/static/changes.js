// Applies pending changes to a list: pure functions, from items and changes to items.
//
// A change has a kind, the id of its item, the `values` it sets (an addition also has what is `shown` until the server
// answers), `before`, the values it replaced, and `seen`, the version it is based on (null: the one that the change before it
// produces). It has an idempotency `key`, and is `sent` once it may have reached the server (`sentAt`; null if there was no
// network at all): from then on it must not be modified. The kind adjust changes the quantity of an inventory item `by` a
// number, whatever the quantity is.

import { _, ngettext, numbered } from "../../../web/static/js/kit/words.js";
import { fold } from "./line-parser.js";

// An item of the list, as the API has it.
/** @typedef {Record<string, any> & { shoppingItemId: string, name: string, status: string, version: number }} Item */
/** @typedef {"add" | "status" | "edit" | "delete" | "adjust"} Kind */
/**
 * @typedef {object} Change
 * @property {number} seq
 * @property {string} place
 * @property {string} person
 * @property {Kind} kind
 * @property {string} id
 * @property {string} key
 * @property {number} at
 * @property {Record<string, any>} values
 * @property {Record<string, any>} before
 * @property {Record<string, any>} [shown]
 * @property {Item | null} was
 * @property {number | null} seen
 * @property {boolean} sent
 * @property {number | null} [sentAt]
 * @property {boolean} [allowDuplicate]
 */

export const FIELDS = ["name", "storeId", "quantity", "unit", "notes"];

// --- applying ---

/** @param {Item} item @param {Change} change */
function applied(item, change) {
  if (change.kind === "status") return { ...item, status: change.values.status };
  return { ...item, ...change.values, ...("storeId" in change.values ? { storeName: null } : {}) };
}

/**
 * The items once all pending changes are applied; `waiting` says since when those with pending changes wait.
 * @param {Map<string, Item>} items
 * @param {Change[]} changes
 * @param {{ id: string, name: string }} person
 */
export function withChanges(items, changes, person) {
  const all = new Map(items);
  const waiting = new Map();
  for (const change of changes) {
    if (change.kind === "adjust") continue;
    waiting.set(change.id, Math.min(waiting.get(change.id) ?? Infinity, change.at));
    if (change.kind === "delete") all.delete(change.id);
    else if (change.kind === "add") {
      if (!all.has(change.id))
        all.set(change.id, {
          shoppingItemId: change.id,
          itemId: null,
          storeId: null,
          quantity: null,
          unit: null,
          notes: null,
          status: "pending",
          version: 0,
          addedBy: person.id,
          addedByName: person.name,
          createdAt: new Date(change.at).toISOString(),
          updatedAt: new Date(change.at).toISOString(),
          name: "",
          ...change.shown,
          ...change.values,
        });
    } else {
      const item = all.get(change.id);
      if (item) all.set(change.id, applied(item, change));
    }
  }
  return { all, waiting };
}

// --- merging a new change into the pending ones ---

/**
 * How the stored changes of one item change when another is made.
 * @param {Change[]} earlier
 * @param {Change} change
 * @returns {{ drop: number[], put: Change[] }}
 */
export function joined(earlier, change) {
  const last = earlier.at(-1);
  if (change.kind === "edit" && last && !last.sent && (last.kind === "edit" || last.kind === "add")) {
    const before = { ...change.before, ...last.before };
    return { drop: [], put: [{ ...last, values: { ...last.values, ...change.values }, before }] };
  }
  if (change.kind === "status" && last && !last.sent && last.kind === "status")
    return last.before.status === change.values.status
      ? { drop: [last.seq], put: [] }
      : { drop: [], put: [{ ...last, values: change.values }] };
  if (change.kind === "adjust" && last && !last.sent) {
    const by = last.values.by + change.values.by;
    return by === 0 ? { drop: [last.seq], put: [] } : { drop: [], put: [{ ...last, values: { by } }] };
  }
  if (change.kind === "delete" && earlier[0]?.kind === "add" && !earlier[0].sent)
    return { drop: earlier.map(({ seq }) => seq), put: [] };
  return { drop: [], put: [{ ...change, seen: earlier.length ? null : change.seen }] };
}

// --- conflicts with changes by others ---

/**
 * The result of an addition and the changes after it, if another member has put the same thing on the list: the tick that
 * purchased it, or the values it was to have; nothing if it was deleted again.
 * @param {Change[]} changes
 * @returns {{ tick?: Change, values?: Record<string, any> }}
 */
export function netResult([add, ...later]) {
  if (later.some(({ kind }) => kind === "delete")) return {};
  const tick = later.findLast(({ kind }) => kind === "status");
  if (tick?.values.status === "purchased") return { tick };
  const edits = later.filter(({ kind }) => kind === "edit").map(({ values }) => values);
  return { values: Object.assign({}, add.values, ...edits) };
}

// The fields that both changed to different values: only these are for a person to decide.
/** @param {Change} change @param {Item} current */
export function clashes(change, current) {
  if (change.kind !== "edit") return [];
  return Object.keys(change.values).filter(
    (field) => current[field] !== change.values[field] && current[field] !== change.before[field],
  );
}

// --- display order ---

/** @param {Item} one @param {Item} other */
const newest = (one, other) =>
  Math.floor(Date.parse(other.createdAt) / 1000) - Math.floor(Date.parse(one.createdAt) / 1000) ||
  (fold(one.name) < fold(other.name) ? -1 : fold(one.name) > fold(other.name) ? 1 : 0) ||
  (one.shoppingItemId < other.shoppingItemId ? -1 : 1);

/**
 * Items grouped by store with unassigned last, newest first.
 * @param {Item[]} items
 * @param {Map<string, string>} storeNames
 */
export function groups(items, storeNames) {
  /** @type {Map<string, { store: string, name: string, items: Item[] }>} */
  const byStore = new Map();
  for (const item of items) {
    const name = storeNames.get(item.storeId) ?? item.storeName ?? null;
    const store = name === null ? "unassigned" : item.storeId;
    const group = byStore.get(store) ?? { store, name: name ?? _("Any store"), items: /** @type {Item[]} */ ([]) };
    byStore.set(store, group);
    group.items.push(item);
  }
  /** @param {{ store: string, name: string }} group */
  const place = ({ store, name }) => [store === "unassigned" ? "1" : "0", fold(name), store].join("\u0000");
  const sorted = [...byStore.values()].sort((one, other) => (place(one) < place(other) ? -1 : 1));
  for (const group of sorted) group.items.sort(newest);
  return sorted;
}

/** The latest purchase first. @param {Item[]} items */
export const lately = (items) =>
  [...items].sort((one, other) => Date.parse(other.updatedAt) - Date.parse(one.updatedAt) || newest(one, other));

// By how much the pending changes adjust the quantity of an inventory item.
/** @param {Change[]} changes @param {string} id */
export const steps = (changes, id) =>
  changes.reduce((sum, change) => (change.kind === "adjust" && change.id === id ? sum + change.values.by : sum), 0);

// --- in words ---

/** @param {Change} change @returns {string} */
export const nameOf = (change) => change.was?.name ?? change.values.name ?? change.shown?.name ?? _("This item");

// People mostly write units in the plural, so a quantity of one is shown without its unit.
/** @param {Record<string, any>} item */
export const amount = ({ quantity, unit }) =>
  unit && (quantity ?? 1) !== 1
    ? _("%(quantity)s %(unit)s", { quantity: numbered(quantity), unit })
    : numbered(quantity ?? 1);

/** @param {string[]} fields @param {Record<string, any>} values @param {Map<string, string>} storeNames */
export function inWords(fields, values, storeNames) {
  const words = fields
    .filter((field) => field !== "unit" || !fields.includes("quantity"))
    .map((field) => {
      if (field === "quantity") return amount(values);
      if (field === "storeId") return storeNames.get(values.storeId) ?? _("Any store");
      return values[field] || (field === "unit" ? _("no unit") : _("no note"));
    });
  return words.join(", ");
}

/** @param {Change} change */
export const stepInWords = ({ values: { by } }) =>
  by > 0 ? ngettext("%(num)s more", "%(num)s more", by) : ngettext("%(num)s fewer", "%(num)s fewer", -by);

/** @param {Change} change @param {Map<string, string>} storeNames */
export function changeInWords(change, storeNames) {
  const name = nameOf(change);
  if (change.kind === "add") return _("Add %(name)s", { name });
  if (change.kind === "delete") return _("Remove %(name)s", { name });
  if (change.kind === "adjust") return _("%(name)s: %(step)s at home", { name, step: stepInWords(change) });
  if (change.kind === "status")
    return change.values.status === "purchased"
      ? _("%(name)s: purchased", { name })
      : _("%(name)s: back on the list", { name });
  return _("%(name)s: %(details)s", { name, details: inWords(Object.keys(change.values), change.values, storeNames) });
}
