// Sends pending changes, each once and in order, and handles the outcome of each.
//
// A change refused by a version conflict is rebased and sent again, unless both sides changed the same field to
// different values: that is for the person to decide, and becomes a notice.

import { isOver, outbox as outboxOf } from "../../../web/static/js/kit/outbox.js";
import { newId, send } from "../../../web/static/js/kit/send.js";
import { _ } from "../../../web/static/js/kit/words.js";
import { clashes, nameOf, stepInWords } from "./changes.js";
import * as store from "./offline-store.js";

/** @typedef {import("./changes.js").Change} Change */
/** @typedef {Record<string, any>} Values */
/** @typedef {import("../../../web/static/js/kit/outbox.js").Outcome} Outcome */
// Receives what the server answers: an item, or nothing for `sent`.
/** @typedef {(event: "adjusted" | "updated" | "deleted" | "sent", item: any, change?: Change) => void} OnEvent */

// For this long, in milliseconds, the server certainly knows an idempotency key: it keeps them for a day.
const KEY_KNOWN = 23 * 60 * 60 * 1000;

/** @param {Values} values @param {...string} fields */
const without = (values, ...fields) =>
  Object.fromEntries(Object.entries(values).filter(([field]) => !fields.includes(field)));

/** @param {Values} values @param {string[]} fields */
const only = (values, fields) => Object.fromEntries(fields.map((field) => [field, values[field]]));

/** The current values of the fields that a change sets. @param {Values} current @param {Change} change */
const asSeen = (current, change) => only(current, Object.keys(change.values));

/** @param {string} api @param {Change} change @returns {[string, string, unknown?]} */
function request(api, change) {
  const list = `${api}/shopping-list`;
  const item = `${list}/${change.id}`;
  // If the version is not known yet, it is the first; if not, the refusal has the current one.
  const version = change.seen || 1;
  if (change.kind === "add") {
    // A null is sent as such: it means nothing, even where the inventory item has a value.
    const more = change.allowDuplicate && { allowDuplicate: true };
    return ["POST", list, { shoppingItemId: change.id, ...change.values, ...more }];
  }
  if (change.kind === "adjust") return ["POST", `${api}/inventory/${change.id}/adjust`, change.values];
  if (change.kind === "status") return ["PATCH", `${item}/status`, { status: change.values.status, version }];
  if (change.kind === "edit") return ["PATCH", item, { ...change.values, version }];
  return ["DELETE", item];
}

/**
 * The function that sends the pending changes of a family, each once and in order.
 * @param {{ api: string, family: string, onEvent: OnEvent }} options
 */
export function outbox({ api, family, onEvent }) {
  const list = `${api}/shopping-list`;

  // The outcome of one change: "done", or why the rest has to wait.
  /** @param {Change} change @returns {Promise<Outcome>} */
  async function deliver(change) {
    if (change.kind === "adjust" && change.sentAt && Date.now() - change.sentAt > KEY_KNOWN) return unknown(change);
    const [method, address, json] = request(api, change);
    const { outcome, status, type, body, message } = await send(address, { method, json, key: change.key });
    if (outcome === "done") {
      if (change.kind === "adjust") onEvent("adjusted", body, change);
      else if (body) onEvent("updated", body);
      else onEvent("deleted", { shoppingItemId: change.id });
      await store.finish(change, body?.version ?? null);
      return "done";
    }
    if (outcome !== "refused") return outcome;
    if (status === 404) return missing(change);
    if (type.endsWith("/version-conflict")) await overtaken(change, body.current);
    else if (type.endsWith("/duplicate-item")) await duplicated(change, body.existing);
    else if (type.endsWith("/already-exists")) {
      if (body.existing) onEvent("updated", body.existing);
      await store.finish(change, body.existing?.version ?? null);
    } else await refused(change, message);
    return "done";
  }

  // Other pending changes of an existing item are still sent: a tick stays ticked.
  /** @param {Change} change @param {string} message */
  function refused(change, message) {
    const notice = { kind: "refused", name: nameOf(change), message };
    return change.kind === "add" ? store.giveUp(change, notice) : store.finish(change, change.seen, notice);
  }

  // Other changes are safe to repeat after a day; a repeated step could count twice.
  /** @param {Change} change @returns {Promise<Outcome>} */
  async function unknown(change) {
    const step = stepInWords(change);
    await refused(change, _("We can’t tell whether your change (%(step)s) was counted. Check the quantity.", { step }));
    return "done";
  }

  /** @param {Change} change @returns {Promise<Outcome>} */
  async function missing(change) {
    const home = await send(api, { method: "GET" });
    if (home.status === 404) return "not-yours";
    if (home.outcome !== "done") return home.outcome === "refused" ? "later" : home.outcome;
    if (change.kind === "adjust") {
      const message = _("It’s no longer in the inventory.");
      await store.giveUp(change, { kind: "refused", name: nameOf(change), message });
      return "done";
    }
    const there = change.kind === "add" ? home : await send(`${list}/${change.id}`, { method: "GET" });
    if (there.outcome !== "done" && there.status !== 404) return "later";
    const { itemId, storeId } = change.values;
    if (there.outcome === "done" && (itemId || storeId)) {
      // Its inventory item, or else its store, is gone; the thing itself is still wanted, as it was shown.
      const values = itemId
        ? { ...change.shown, ...without(change.values, "itemId") }
        : { ...change.values, storeId: null };
      await store.replaceChange({ ...change, values, key: newId() });
      return "done";
    }
    if (change.kind === "delete") await store.finish(change);
    else await store.giveUp(change, { kind: "gone", name: nameOf(change), change });
    onEvent("deleted", { shoppingItemId: change.id });
    return "done";
  }

  /** @param {Change} change @param {import("./changes.js").Item} current */
  async function overtaken(change, current) {
    onEvent("updated", current);
    const fields = clashes(change, current);
    const same = Object.entries(change.values).every(([field, value]) => current[field] === value);
    if (same) await store.finish(change, current.version);
    else if (fields.length === 0)
      await store.replaceChange({ ...change, seen: current.version, before: asSeen(current, change), key: newId() });
    else {
      const notice = {
        kind: "conflict",
        id: change.id,
        name: current.name,
        fields,
        mine: only(change.values, fields),
        mineAt: change.at,
        theirs: current,
      };
      // Fields that only this person changed need no decision, and are sent whatever is chosen.
      const values = without(change.values, ...fields);
      if (Object.keys(values).length === 0) await store.finish(change, current.version, notice);
      else {
        const rest = { ...change, values, seen: current.version, key: newId() };
        await store.replaceChange({ ...rest, before: asSeen(current, rest) }, notice);
      }
    }
  }

  /** @param {Change} change @param {import("./changes.js").Item} existing */
  async function duplicated(change, existing) {
    onEvent("updated", existing);
    if (change.kind === "add") await store.carryOver(change, existing);
    else await refused(change, _("It’s already on the list."));
  }

  return outboxOf({
    app: "shopping",
    store: store.outboxOfLists,
    place: family,
    deliver,
    onSent: () => onEvent("sent", null),
  });
}

/** Sends what waits for any family of the person: from pages that show none. */
export async function deliverAll() {
  for (const family of await store.waitingPlaces()) {
    const outcome = await outbox({ api: `/api/v1/families/${family}`, family, onEvent: () => {} })();
    if (outcome === "not-yours") await store.forgetFamily(family);
    else if (!isOver(outcome)) return;
  }
}
