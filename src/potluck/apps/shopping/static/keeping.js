// What is kept on this device: whose it is, their lists as last seen, the changes that wait, and what came of them.
//
// There is one person's at most. Who signs in may be somebody else: then it is locked (by worker.js, which has the same
// names) until a page that the server made says who they are; it opens for the same person, and is forgotten for another.

import { joined, led } from "./changes.js";

const NAME = "potluck-shopping";
const STORES = ["about", "lists", "changes", "notices"];

// So long, in milliseconds, a page that can do without is kept from it by a device that does not answer.
const OPENS_WITHIN = 8000;

// The page is of one person, and another is signed in by now.
export class SomebodyElse extends Error {}
// Nothing can be kept on this device.
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
      // By now it is done another way, and must not be done again from here.
      if (late) {
        asking.result.close();
        return;
      }
      // Somebody wants to delete it, or has another version.
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

// This person is signed in here: nothing of anybody else stays. A page that the server made asks this first, and its forms
// work without what is kept; one that was kept has nothing else.
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

// Kept only for whom it is: another tab may have found out that somebody else is here. Where there is no worker, nothing
// would open it without signal, and nobody would forget it when they sign out.
export const keepList = async (family, list) =>
  "serviceWorker" in navigator &&
  together("readwrite", async ({ about, lists }) => {
    const person = await of(about.get("person"));
    if (person?.id !== list.person.id || (await of(about.get("locked")))) return;
    await of(lists.put(list, family));
    await of(about.put(family, "last"));
  });

// Lists of families that they are not in any more go; what waits for one stays, until its server says what it is.
export const onlyFamilies = (families) =>
  together("readwrite", async ({ lists }) => {
    for (const family of await of(lists.getAllKeys()))
      if (!families.includes(family)) await of(lists.delete(family));
  });

// Of a family that is not theirs any more.
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

// The families that something waits for.
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

// The first that waits, which from now on is as it is: it may reach the server at any moment.
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

// It is done, or given up; the next change of the same thing is of the version that there is now.
export const finish = (change, version = null, notice = null) =>
  together("readwrite", async ({ changes, notices }) => {
    await of(changes.delete(change.seq));
    const next = (await changesOf(changes, change.family)).find((each) => each.id === change.id);
    if (next && !next.sent && version !== null) await of(changes.put({ ...next, seen: version }));
    if (notice) await note(notices, change, notice);
  });

// The same change as another: of a newer version, or of another thing. It was refused, so it is nowhere done.
export const changed = (change, notice = null) =>
  together("readwrite", async ({ changes, notices }) => {
    await of(changes.put({ ...change, sent: false, sentAt: null }));
    if (notice) await note(notices, change, notice);
  });

// Everything that waits for a thing that is gone.
export const giveUp = (change, notice = null) =>
  together("readwrite", async ({ changes, notices }) => {
    const all = (await changesOf(changes, change.family)).filter((each) => each.id === change.id);
    for (const each of all) await of(changes.delete(each.seq));
    if (notice) await note(notices, change, notice);
  });

// What was to be added is on the list already, as somebody else's. What waits for it is made for that one only where
// nobody could mean anything else: that it is bought. Else it is for a person to decide, unless they took it off again.
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
