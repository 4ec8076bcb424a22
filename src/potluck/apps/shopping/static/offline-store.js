// The offline store (IndexedDB): its owner, their lists as last seen, pending changes, and notices about their outcome.
//
// It holds one person's data at most. A sign-in may be another person's, so worker.js, which uses the same names, locks
// it until a page from the server says who they are: it unlocks for the same person, and is emptied for another.

import { deviceStore } from "../../../web/static/js/kit/store.js";
import { joined, netResult } from "./changes.js";

/** @typedef {import("./changes.js").Change} Change */
/** @typedef {{ id: string }} Person */
/** What to tell the person about a change. @typedef {{ kind: string } & Record<string, any>} Notice */

// How long, in milliseconds, a page that can work without the store waits for a device that does not answer.
const OPENS_WITHIN = 8000;

// The page belongs to one person, and another is signed in by now.
export class OtherPerson extends Error {}

const transact = deviceStore("potluck-shopping", (created) => {
  created.createObjectStore("about");
  created.createObjectStore("lists");
  created.createObjectStore("changes", { keyPath: "seq", autoIncrement: true });
  created.createObjectStore("notices", { keyPath: "number", autoIncrement: true });
});

/** @param {any} stores */
const empty = (stores) => Promise.all(Object.values(stores).map((store) => store.clear()));

// --- whose it is ---

export const owner = () =>
  transact("readonly", async ({ about }) => ((await about.get("locked")) ? null : await about.get("person")));

/**
 * This person is signed in here: deletes other people's data. Pages from the server call this first, with a timeout,
 * because their forms work without the store; the offline page has nothing else.
 * @param {Person} person
 */
export const belongsTo = (person) =>
  transact(
    "readwrite",
    async (stores) => {
      const before = await stores.about.get("person");
      if (before && before.id !== person.id) await empty(stores);
      await stores.about.put(person, "person");
      await stores.about.delete("locked");
    },
    OPENS_WITHIN,
  );

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

/** Deletes everything of a family that is no longer theirs. @param {string} family */
export const forgetFamily = (family) =>
  transact("readwrite", async ({ lists, changes, notices }) => {
    await lists.delete(family);
    for (const store of [changes, notices])
      for (const row of await store.getAll()) if (row.family === family) await store.delete(row.seq ?? row.number);
  });

// --- changes ---

/** @param {any} store @param {string} family @returns {Promise<any[]>} */
const ofFamily = async (store, family) =>
  (await store.getAll()).filter((/** @type {Change} */ row) => row.family === family);

// The pending changes of the thing that a change is about.
/** @param {any} store @param {Change} change @returns {Promise<Change[]>} */
const ofThing = async (store, change) => (await ofFamily(store, change.family)).filter(({ id }) => id === change.id);

/** @param {string} family @returns {Promise<Change[]>} */
export const waitingChanges = (family) => transact("readonly", ({ changes }) => ofFamily(changes, family));

/** The families with pending changes. @returns {Promise<Set<string>>} */
export const waitingFamilies = () =>
  transact(
    "readonly",
    async ({ changes }) => new Set((await changes.getAll()).map((/** @type {Change} */ { family }) => family)),
  );

/** @param {Change} change */
export const addChange = (change) =>
  transact("readwrite", async ({ about, changes }) => {
    const person = await about.get("person");
    if (person?.id !== change.person) throw new OtherPerson("another person is signed in");
    const { drop, put } = joined(await ofThing(changes, change), change);
    for (const seq of drop) await changes.delete(seq);
    for (const row of put) await changes.put(row);
  });

// Claims the first pending change. It is immutable from now on, since it may reach the server at any moment.
/** @param {string} family @returns {Promise<Change | null>} */
export const claimFirst = (family) =>
  transact("readwrite", async ({ about, changes }) => {
    if (await about.get("locked")) return null;
    const [first] = await ofFamily(changes, family);
    if (!first) return null;
    const sentAt = first.sentAt ?? (navigator.onLine ? Date.now() : null);
    const claimed = { ...first, sent: true, sentAt };
    await changes.put(claimed);
    return claimed;
  });

/** @param {any} notices @param {{ family: string, person: string }} change @param {Notice} notice */
const note = (notices, { family, person }, notice) => notices.put({ family, person, at: Date.now(), ...notice });

/**
 * The change is done, or given up; the next one of the same thing is rebased on the current version.
 * @param {Change} change
 * @param {number | null} [version]
 * @param {Notice | null} [notice]
 */
export const finish = (change, version = null, notice = null) =>
  transact("readwrite", async ({ changes, notices }) => {
    await changes.delete(change.seq);
    const [next] = await ofThing(changes, change);
    if (next && !next.sent && version !== null) await changes.put({ ...next, seen: version });
    if (notice) await note(notices, change, notice);
  });

// Replaces a change that the server refused: rebased on a newer version, or moved to another thing.
/** @param {Change} change @param {Notice | null} [notice] */
export const replaceChange = (change, notice = null) =>
  transact("readwrite", async ({ changes, notices }) => {
    await changes.put({ ...change, sent: false, sentAt: null });
    if (notice) await note(notices, change, notice);
  });

/** Drops all pending changes of a thing that is gone. @param {Change} change @param {Notice} notice */
export const giveUp = (change, notice) =>
  transact("readwrite", async ({ changes, notices }) => {
    for (const { seq } of await ofThing(changes, change)) await changes.delete(seq);
    await note(notices, change, notice);
  });

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

// --- what came of them ---

/** @param {string} family */
export const notices = (family) => transact("readonly", ({ notices: store }) => ofFamily(store, family));

/** @param {string} family @param {string} person @param {Notice} notice */
export const addNotice = (family, person, notice) =>
  transact("readwrite", ({ notices: store }) => note(store, { family, person }, notice));

/** @param {number} number */
export const dropNotice = (number) => transact("readwrite", ({ notices: store }) => store.delete(number));
