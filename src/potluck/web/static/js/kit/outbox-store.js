// What an app stores on this device (IndexedDB): its owner, pending changes, notices about their outcome, and lists as last
// seen. All apps have the same stores, in a database named "potluck-" and their id.
//
// A change has the `place` that it was made in (a family, a list), the `person` who made it, the `id` of its thing, and an
// idempotency `key`. The owner is who is there now; their id may be its beginning only, and is "" for a visitor without an
// account. A sign-in may be another person's, so worker.js locks the store until a page says who it is. Then other people's
// rows are deleted; a visitor's become theirs, as their cookies do. Rows of a person whose session is over stay, and wait.

import { isSamePerson } from "./saved-pages.js";
import { deviceStore } from "./store.js";

/** @typedef {{ id: string }} Person */
/** What to tell the person about a change. @typedef {{ kind: string } & Record<string, any>} Notice */
/**
 * @typedef {object} Pending
 * @property {number} seq
 * @property {string} place
 * @property {string} person
 * @property {string} kind
 * @property {string} id
 * @property {string} key
 * @property {number} at
 * @property {Record<string, any>} values
 * @property {boolean} sent it may have reached the server, and must not be modified
 * @property {number | null} [sentAt] when, if there was a network
 */
/** How the stored changes of a thing change when another is made. @typedef {{ drop: number[], put: Pending[] }} Joined */

// How long, in milliseconds, a page that can work without the store waits for a device that does not answer.
const OPENS_WITHIN = 8000;
// An app that can no longer send must not fill the device.
const MOST_CHANGES = 1000;

/** The page belongs to one person, and another is signed in by now. */
export class OtherPerson extends Error {}

/** @param {any} row @returns {string} */
const ownerOf = (row) => row.person?.id ?? row.person ?? "";

/**
 * The first version had one app, and families for places.
 * @param {any} created
 * @param {number} before
 * @param {any} transaction
 */
async function create(created, before, transaction) {
  if (before === 0) {
    created.createObjectStore("about");
    created.createObjectStore("lists");
    created.createObjectStore("changes", { keyPath: "seq", autoIncrement: true });
    created.createObjectStore("notices", { keyPath: "number", autoIncrement: true });
    return;
  }
  for (const name of ["changes", "notices"]) {
    const store = transaction.objectStore(name);
    for (const { family, ...row } of await store.getAll()) await store.put({ place: family, ...row });
  }
}

/** The store of an app. @param {string} app */
export function outboxStore(app) {
  const transact = deviceStore(`potluck-${app}`, create, 2);

  /** @param {any} store @param {string} place @returns {Promise<any[]>} */
  const of = async (store, place) => (await store.getAll()).filter((/** @type {any} */ row) => row.place === place);

  /** The pending changes of the thing that a change is about. @param {any} store @param {Pending} change */
  const ofThing = async (store, change) => (await of(store, change.place)).filter(({ id }) => id === change.id);

  /** @param {any} about @returns {Promise<any>} */
  const present = async (about) => ((await about.get("locked")) ? null : await about.get("person"));

  /** @param {any} notices @param {{ place: string, person: string }} change @param {Notice} notice */
  const note = (notices, { place, person }, notice) => notices.put({ place, person, at: Date.now(), ...notice });

  return {
    transact,
    ofThing,
    note,
    present,

    // --- whose it is ---

    owner: () => transact("readonly", ({ about }) => present(about)),

    /**
     * This person is there. Pages from the server call this first, with a timeout, because their forms work without the
     * store.
     * @param {Person} person
     */
    belongsTo: (person) =>
      transact(
        "readwrite",
        async ({ about, ...rows }) => {
          const before = await about.get("person");
          if (before && !isSamePerson(before.id, person.id)) await about.clear();
          await about.put(person, "person");
          await about.delete("locked");
          if (!person.id) return;
          for (const store of Object.values(rows))
            for (const key of await store.getAllKeys()) {
              const row = await store.get(key);
              if (isSamePerson(ownerOf(row), person.id)) continue;
              if (ownerOf(row) !== "") await store.delete(key);
              else if (store.keyPath) await store.put({ ...row, person: person.id });
            }
        },
        OPENS_WITHIN,
      ),

    // --- changes ---

    /** @param {string} place @returns {Promise<any[]>} */
    waiting: (place) => transact("readonly", ({ changes }) => of(changes, place)),

    /** The places with pending changes of who is there. @returns {Promise<Set<string>>} */
    waitingPlaces: () =>
      transact("readonly", async ({ about, changes }) => {
        const person = await present(about);
        const own = (await changes.getAll()).filter((/** @type {Pending} */ row) => row.person === person?.id);
        return new Set(own.map((/** @type {Pending} */ { place }) => place));
      }),

    /** @param {any} change @param {(earlier: any[], change: any) => Joined} [joined] */
    add: (change, joined = () => ({ drop: [], put: [change] })) =>
      transact("readwrite", async ({ about, changes }) => {
        const person = await about.get("person");
        if (person?.id !== change.person) throw new OtherPerson("another person is signed in");
        if ((await changes.count()) >= MOST_CHANGES) throw new DOMException("full", "QuotaExceededError");
        const { drop, put } = joined(await ofThing(changes, change), change);
        for (const seq of drop) await changes.delete(seq);
        for (const row of put) await changes.put(row);
      }),

    /**
     * Claims the first pending change of who is there. It is immutable from now on, since it may reach the server at any
     * moment.
     * @param {string} place
     * @returns {Promise<any | null>}
     */
    claimFirst: (place) =>
      transact("readwrite", async ({ about, changes }) => {
        const person = await present(about);
        const first = (await of(changes, place)).find((row) => row.person === person?.id);
        if (!first) return null;
        const claimed = { ...first, sent: true, sentAt: first.sentAt ?? (navigator.onLine ? Date.now() : null) };
        await changes.put(claimed);
        return claimed;
      }),

    /**
     * The change is done, or given up; the next one of the same thing is rebased on the current version.
     * @param {any} change
     * @param {number | null} [version]
     * @param {Notice | null} [notice]
     */
    finish: (change, version = null, notice = null) =>
      transact("readwrite", async ({ changes, notices }) => {
        await changes.delete(change.seq);
        const [next] = await ofThing(changes, change);
        if (next && !next.sent && version !== null) await changes.put({ ...next, seen: version });
        if (notice) await note(notices, change, notice);
      }),

    /** Replaces a change that the server refused. @param {any} change @param {Notice | null} [notice] */
    replace: (change, notice = null) =>
      transact("readwrite", async ({ changes, notices }) => {
        await changes.put({ ...change, sent: false, sentAt: null });
        if (notice) await note(notices, change, notice);
      }),

    /** Drops all pending changes of a thing that is gone. @param {any} change @param {Notice} notice */
    giveUp: (change, notice) =>
      transact("readwrite", async ({ changes, notices }) => {
        for (const { seq } of await ofThing(changes, change)) await changes.delete(seq);
        await note(notices, change, notice);
      }),

    // --- what came of them ---

    /** @param {string} place */
    notices: (place) => transact("readonly", ({ notices }) => of(notices, place)),

    /** @param {string} place @param {string} person @param {Notice} notice */
    addNotice: (place, person, notice) =>
      transact("readwrite", ({ notices }) => note(notices, { place, person }, notice)),

    /** @param {number} number */
    dropNotice: (number) => transact("readwrite", ({ notices }) => notices.delete(number)),

    /** Deletes everything of a place that is no longer theirs. @param {string} place */
    forgetPlace: (place) =>
      transact("readwrite", async ({ lists, changes, notices }) => {
        await lists.delete(place);
        for (const store of [changes, notices])
          for (const row of await of(store, place)) await store.delete(row.seq ?? row.number);
      }),
  };
}

/** @typedef {ReturnType<typeof outboxStore>} OutboxStore */
