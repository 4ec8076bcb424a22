// The offline store (IndexedDB): its owner, their lists as last seen, pending changes, and notices about their outcome.
//
// It holds one person's data at most. A sign-in may be somebody else's, so worker.js, which uses the same names, locks
// it until a page from the server says who they are: it unlocks for the same person, and is emptied for another.

import { joined, led } from "./changes.js";

const NAME = "potluck-shopping";
const STORES = ["about", "lists", "changes", "notices"];

// How long, in milliseconds, a page that can work without the store waits for a device that does not answer.
const OPENS_WITHIN = 8000;

// The page belongs to one person, and another is signed in by now.
export class SomebodyElse extends Error {}
// Nothing can be stored on this device.
export class NotOpened extends Error {}

let database = null;

function opened(within = null) {
  database ??= new Promise((resolve, reject) => {
    const asking = indexedDB.open(NAME, 1);
    let late = false;
    if (within !== null)
      setTimeout(() => {
        late = true;
        reject(new Error("it took too long"));
      }, within);
    asking.onupgradeneeded = () => {
      asking.result.createObjectStore("about");
      asking.result.createObjectStore("lists");
      asking.result.createObjectStore("changes", { keyPath: "seq", autoIncrement: true });
      asking.result.createObjectStore("notices", { keyPath: "number", autoIncrement: true });
    };
    asking.onsuccess = () => {
      // The page has fallen back to its forms, so nothing must be sent from here as well.
      if (late) {
        asking.result.close();
        return;
      }
      // Another page deletes or upgrades the database.
      asking.result.onversionchange = () => {
        asking.result.close();
        database = null;
      };
      // Some browsers close it by themselves while a page is in the background.
      asking.result.onclose = () => (database = null);
      resolve(asking.result);
    };
    asking.onerror = asking.onblocked = () => {
      database = null;
      reject(asking.error ?? new Error("blocked"));
    };
  });
  return database;
}

const of = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

// All of `work` or nothing of it. It may await only what it asks of the stores that it is given.
async function together(mode, work, within = null) {
  const found = await opened(within).catch((error) => {
    throw new NotOpened("nothing can be kept here", { cause: error });
  });
  const transaction = found.transaction(STORES, mode, { durability: "strict" });
  const done = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = transaction.onerror = () => reject(transaction.error ?? new Error("aborted"));
  });
  const stores = Object.fromEntries(STORES.map((name) => [name, transaction.objectStore(name)]));
  let result;
  try {
    result = await work(stores);
  } catch (error) {
    transaction.abort();
    done.catch(() => {});
    throw error;
  }
  await done;
  return result;
}

const emptied = (stores) => Promise.all(STORES.map((name) => of(stores[name].clear())));

// --- whose it is ---

export const whose = () =>
  together("readonly", async ({ about }) =>
    (await of(about.get("locked"))) ? null : ((await of(about.get("person"))) ?? null),
  );

// This person is signed in here: deletes anybody else's data. Pages from the server call this first, with a timeout,
// because their forms work without the store; the offline page has nothing else.
export const belongsTo = (person) =>
  together(
    "readwrite",
    async (stores) => {
      const before = await of(stores.about.get("person"));
      if (before && before.id !== person.id) await emptied(stores);
      await of(stores.about.put(person, "person"));
      await of(stores.about.delete("locked"));
    },
    OPENS_WITHIN,
  );

export const forget = () => together("readwrite", emptied);

// --- lists ---

export const keptList = (family) => together("readonly", ({ lists }) => of(lists.get(family)));

export const lastFamily = () => together("readonly", ({ about }) => of(about.get("last")));

// Stored only for its owner: another tab may have found out that somebody else is here. Without a service worker,
// nothing would open it offline, and nothing would delete it on sign-out.
export const keepList = async (family, list) =>
  "serviceWorker" in navigator &&
  together("readwrite", async ({ about, lists }) => {
    const person = await of(about.get("person"));
    if (person?.id !== list.person.id || (await of(about.get("locked")))) return;
    await of(lists.put(list, family));
    await of(about.put(family, "last"));
  });

// Deletes lists of families that they are no longer in; pending changes stay until the server refuses them.
export const onlyFamilies = (families) =>
  together("readwrite", async ({ lists }) => {
    for (const family of await of(lists.getAllKeys()))
      if (!families.includes(family)) await of(lists.delete(family));
  });

// Deletes everything of a family that is no longer theirs.
export const forgetFamily = (family) =>
  together("readwrite", async ({ lists, changes, notices }) => {
    await of(lists.delete(family));
    for (const store of [changes, notices])
      for (const each of await of(store.getAll()))
        if (each.family === family) await of(store.delete(each.seq ?? each.number));
  });

// --- changes ---

const changesOf = async (changes, family) => (await of(changes.getAll())).filter((each) => each.family === family);

export const waitingChanges = (family) => together("readonly", ({ changes }) => changesOf(changes, family));

// The families with pending changes.
export const waitingFamilies = () =>
  together("readonly", async ({ changes }) => new Set((await of(changes.getAll())).map((each) => each.family)));

export const addChange = (change) =>
  together("readwrite", async ({ about, changes }) => {
    const person = await of(about.get("person"));
    if (person?.id !== change.person) throw new SomebodyElse("somebody else is here");
    const earlier = (await changesOf(changes, change.family)).filter((each) => each.id === change.id);
    const { drop, put } = joined(earlier, change);
    for (const seq of drop) await of(changes.delete(seq));
    for (const each of put) await of(changes.put(each));
  });

// Claims the first pending change. It is immutable from now on, since it may reach the server at any moment.
export const claimFirst = (family) =>
  together("readwrite", async ({ about, changes }) => {
    if (await of(about.get("locked"))) return null;
    const [first] = await changesOf(changes, family);
    if (!first) return null;
    const sentAt = first.sentAt ?? (navigator.onLine ? Date.now() : null);
    const claimed = { ...first, sent: true, sentAt };
    await of(changes.put(claimed));
    return claimed;
  });

const note = (notices, { family, person }, notice) => of(notices.put({ family, person, at: Date.now(), ...notice }));

// The change is done, or given up; the next one of the same thing is rebased on the current version.
export const finish = (change, version = null, notice = null) =>
  together("readwrite", async ({ changes, notices }) => {
    await of(changes.delete(change.seq));
    const next = (await changesOf(changes, change.family)).find((each) => each.id === change.id);
    if (next && !next.sent && version !== null) await of(changes.put({ ...next, seen: version }));
    if (notice) await note(notices, change, notice);
  });

// Replaces a change that the server refused: rebased on a newer version, or moved to another thing.
export const changed = (change, notice = null) =>
  together("readwrite", async ({ changes, notices }) => {
    await of(changes.put({ ...change, sent: false, sentAt: null }));
    if (notice) await note(notices, change, notice);
  });

// Drops all pending changes of a thing that is gone.
export const giveUp = (change, notice = null) =>
  together("readwrite", async ({ changes, notices }) => {
    const all = (await changesOf(changes, change.family)).filter((each) => each.id === change.id);
    for (const each of all) await of(changes.delete(each.seq));
    if (notice) await note(notices, change, notice);
  });

// Somebody else has added the same thing. Of the pending changes only a purchase is carried over to theirs, because it
// is unambiguous. Anything else is for the person to decide, unless they deleted the thing again.
export const leadOver = (change, existing) =>
  together("readwrite", async ({ changes, notices }) => {
    const all = (await changesOf(changes, change.family)).filter((each) => each.id === change.id);
    for (const each of all) await of(changes.delete(each.seq));
    const { tick, values } = led(all);
    if (tick)
      await of(changes.put({ ...tick, id: existing.shoppingItemId, seen: existing.version, before: { status: "pending" } }));
    else if (values) await note(notices, change, { kind: "duplicate", existing, change: { ...change, values } });
  });

// --- what came of them ---

export const notices = (family) =>
  together("readonly", async ({ notices: all }) => (await of(all.getAll())).filter((each) => each.family === family));

export const addNotice = (family, person, notice) =>
  together("readwrite", ({ notices: all }) => note(all, { family, person }, notice));

export const dropNotice = (number) => together("readwrite", ({ notices: all }) => of(all.delete(number)));
