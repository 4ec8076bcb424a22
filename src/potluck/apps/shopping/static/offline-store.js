// What the list stores on this device: lists as last seen, pending changes, and notices about their outcome. It holds one
// person's data at most.

import { outboxStore } from "../../../web/static/js/kit/outbox-store.js";
import { joined, netResult } from "./changes.js";

/** @typedef {import("./changes.js").Change} Change */
/** @typedef {import("../../../web/static/js/kit/outbox-store.js").Notice} Notice */

export const outboxOfLists = outboxStore("shopping");
const { note, ofThing, transact } = outboxOfLists;

// --- whose it is, and what came of changes ---

export const owner = outboxOfLists.owner;
export const belongsTo = outboxOfLists.belongsTo;
export const waitingPlaces = outboxOfLists.waitingPlaces;
export const claimFirst = outboxOfLists.claimFirst;
export const finish = outboxOfLists.finish;
export const giveUp = outboxOfLists.giveUp;
export const notices = outboxOfLists.notices;
export const addNotice = outboxOfLists.addNotice;
export const dropNotice = outboxOfLists.dropNotice;
export const forgetFamily = outboxOfLists.forgetPlace;
export const replaceChange = outboxOfLists.replace;

/** @param {string} family @returns {Promise<Change[]>} */
export const waitingChanges = (family) => outboxOfLists.waiting(family);

/** @param {Change} change */
export const addChange = (change) => outboxOfLists.add(change, joined);

// --- lists ---

/** @param {string} family */
export const storedList = (family) => transact("readonly", ({ lists }) => lists.get(family));

export const lastFamily = () => transact("readonly", ({ about }) => about.get("last"));

/**
 * Stores it only for its owner: another tab may have found out that another person is here. Without a service worker,
 * nothing would open it offline, and nothing would delete it on sign-out.
 * @param {string} family
 * @param {any} list
 */
export const storeList = async (family, list) =>
  "serviceWorker" in navigator &&
  transact("readwrite", async ({ about, lists }) => {
    const person = await about.get("person");
    if (person?.id !== list.person.id || (await about.get("locked"))) return;
    await lists.put(list, family);
    await about.put(family, "last");
  });

// Deletes lists of families that they are no longer in; pending changes stay until the server refuses them.
/** @param {string[]} families */
export const onlyFamilies = (families) =>
  transact("readwrite", async ({ lists }) => {
    for (const family of await lists.getAllKeys()) if (!families.includes(family)) await lists.delete(family);
  });

// --- changes ---

/**
 * Another member has added the same thing. Of the pending changes only a purchase is carried over to theirs, because it
 * is unambiguous. Anything else is for the person to decide, unless they deleted the thing again.
 * @param {Change} change
 * @param {import("./changes.js").Item} existing
 */
export const carryOver = (change, existing) =>
  transact("readwrite", async ({ changes, notices }) => {
    const all = await ofThing(changes, change);
    for (const { seq } of all) await changes.delete(seq);
    const { tick, values } = netResult(all);
    if (tick)
      await changes.put({
        ...tick,
        id: existing.shoppingItemId,
        seen: existing.version,
        before: { status: "pending" },
      });
    else if (values) await note(notices, change, { kind: "duplicate", existing, change: { ...change, values } });
  });
