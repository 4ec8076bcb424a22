// The service worker: opens pages that were saved at the last visit when there is no network, and what each app has for that.
// The server puts two things in front of this: what it KNOWS (web/offline.py), and kit/saved-pages.js.
//
// A page is saved only if its response says so (potluck-offline: for how many seconds), for the person it names
// (potluck-person). Every page that the server sends says who is signed in: what was saved for another person is then
// deleted. Between a sign-in or sign-out and the next page nothing is shown, and a response to a request from before it is
// neither believed nor saved.

/* global KNOWN, UNKNOWN, LARGEST_PAGE, timeOn, isShown, othersOf, surplusOf, isAbout, isSamePerson */

const FILES = "potluck-files-";
const CACHE = FILES + KNOWN.version;
// How long, in milliseconds, to wait for a network that does not answer.
const PATIENCE = 4000;
const ENDING = "/sign-out";
// Where someone signs in: by a form, except those who come back from an identity provider.
const BEGINNING = new Set(["/sign-in", "/sign-in/new", "/sign-up", "/reset"]);
const RETURNING = "/sign-in/callback";
// Refused for good: not signed in, no access, not found, gone.
const OVER = new Set([401, 403, 404, 410]);
const KEPT_HEADERS = ["content-security-policy", "content-type", "permissions-policy", "referrer-policy"];
// What the server gives only to its person's own page, to encrypt with.
const KEYS = / data-draft-key="[^"]*"/g;

// --- files ---

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(
    (async () => {
      const cache = await caches.open(CACHE);
      await cache.addAll([...KNOWN.files, new Request(KNOWN.page, { cache: "reload" })]);
      // What saved pages need, in its new version.
      for (const name of await caches.keys()) {
        if (!name.startsWith(FILES) || name === CACHE) continue;
        for (const { url } of await (await caches.open(name)).keys())
          await cache.add(new Request(updated(new URL(url).pathname))).catch(() => {});
      }
    })(),
  );
});

addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      const old = (name) => (name.startsWith(FILES) && name !== CACHE) || name.startsWith("potluck-shopping-");
      for (const name of (await caches.keys()).filter(old)) await caches.delete(name);
      await clients.claim();
    })(),
  );
});

/** The address of the same file in this version. */
const updated = (path) => path.replace(/^\/static\/[^/]+\//, KNOWN.static);

const cached = async (path) => (await caches.open(CACHE)).match(path);

async function fileOf(request, path) {
  const copy = await cached(path);
  if (copy) return copy;
  try {
    return await fetch(request);
  } catch (error) {
    // A page that was saved before an update.
    const current = await cached(updated(path));
    if (current) return current;
    throw error;
  }
}

/** Caches what a page has used, which by now is in the browser's own cache. */
async function keepFiles(paths) {
  const cache = await caches.open(CACHE);
  for (const path of paths)
    if (path.startsWith(KNOWN.static) && !(await cache.match(path))) await cache.add(path).catch(() => {});
}

// --- what is stored ---

/** Runs `work` on the stores of a database, all of it or nothing; undefined if the database is not there. */
function inDatabase(name, work, create = null) {
  return new Promise((resolve) => {
    const opening = indexedDB.open(name, create ? 1 : undefined);
    opening.onupgradeneeded = () => (create ? create(opening.result) : opening.transaction.abort());
    opening.onerror = opening.onblocked = () => resolve(undefined);
    opening.onsuccess = () => {
      const database = opening.result;
      const names = [...database.objectStoreNames];
      if (!names.length) {
        database.close();
        resolve(undefined);
        return;
      }
      const transaction = database.transaction(names, "readwrite");
      let result;
      transaction.oncomplete = () => {
        database.close();
        resolve(result);
      };
      transaction.onabort = () => {
        database.close();
        resolve(undefined);
      };
      const stores = Object.fromEntries(names.map((store) => [store, transaction.objectStore(store)]));
      work(stores).then(
        (value) => {
          result = value;
        },
        () => transaction.abort(),
      );
    };
  });
}

/** The answer of a store. */
const of = (asking) =>
  new Promise((resolve, reject) => {
    asking.onsuccess = () => resolve(asking.result);
    asking.onerror = () => reject(asking.error);
  });

const inPages = (work) =>
  inDatabase("potluck-pages", work, (created) => {
    created.createObjectStore("device");
    created.createObjectStore("pages", { keyPath: "address" });
    created.createObjectStore("texts");
  });

const deviceIn = async (stores) => (await of(stores.device.get("state"))) ?? UNKNOWN;

async function drop(stores, addresses) {
  for (const address of addresses) {
    stores.pages.delete(address);
    stores.texts.delete(address);
  }
}

/** Changes made offline, and what apps store for them. */
async function inApps(work) {
  for (const app of KNOWN.apps) await inDatabase(`potluck-${app}`, work);
}

// --- who is there ---

/** Not to be read: also not what is encrypted. */
async function lockApp({ about }) {
  about.put(true, "locked");
  about.delete("key");
}

// Counts sign-ins and sign-outs.
let turns = 0;

/** Someone may be signing in: nothing is shown until a page says who. */
async function lock() {
  turns += 1;
  await inPages(async (stores) => stores.device.put({ ...(await deviceIn(stores)), who: null }, "state"));
  await inApps(lockApp);
}

async function forget(leaving = false) {
  turns += 1;
  await inPages(async (stores) => {
    const { latest } = await deviceIn(stores);
    stores.pages.clear();
    stores.texts.clear();
    stores.device.put({ ...UNKNOWN, latest, leaving }, "state");
  });
  await inApps(async (stores) => {
    for (const store of Object.values(stores)) store.clear();
  });
}

/** A page says who is signed in; "" for no one. */
async function learn(person) {
  const before = await inPages(async (stores) => {
    const device = await deviceIn(stores);
    if (device.who === person) return person;
    await drop(stores, othersOf(await of(stores.pages.getAll()), person));
    stores.device.put({ ...device, who: person }, "state");
    return device.who;
  });
  if (before === person) return;
  await inApps(async (stores) => {
    const { about, ...others } = stores;
    const owner = (await of(about.get("person")))?.id;
    if (owner !== undefined && isSamePerson(owner, person)) about.delete("locked");
    else lockApp(stores);
    if (person === "") return;
    // What no one signed in has stored becomes theirs, as their cookies do.
    for (const store of Object.values(others))
      for (const key of await of(store.getAllKeys())) {
        const row = await of(store.get(key));
        const maker = row.person?.id ?? row.person ?? "";
        if (maker !== "" && !isSamePerson(maker, person)) store.delete(key);
      }
  });
}

/** Tells the server about a sign-out that it could not be told about; resolves to whether it knows. */
async function finishLeaving() {
  try {
    const headers = { accept: "application/json" };
    const answer = await fetch(ENDING, { method: "POST", body: new URLSearchParams(), headers, redirect: "manual" });
    // Neither a redirect nor a page of its own is the server's answer: a proxy asks to sign in.
    if (answer.status !== 204 && answer.status !== 401) return false;
  } catch {
    return false;
  }
  await forget();
  return true;
}

// --- pages ---

/** A copy of a response that may be saved: any other is not read twice. */
const copyOf = (address, answer) =>
  answer.ok && answer.headers.has("potluck-offline") && !address.search ? answer.clone() : null;

/** Learns from a page that the server sent, and saves it if there is a copy. */
async function take(address, answer, copy, turn) {
  if (turn !== turns) return;
  if (OVER.has(answer.status)) await over(address.pathname);
  // Where it leads now is another page's business.
  else if (answer.type === "opaqueredirect") await inPages((stores) => drop(stores, [address.pathname]));
  const person = answer.headers.get("potluck-person");
  if (person === null) return;
  const text = copy ? await copy.text() : "";
  if (turn !== turns) return;
  await learn(person);
  if (text && text.length <= LARGEST_PAGE) await save(address.pathname, person, text, answer.headers);
}

async function save(address, person, text, headers) {
  const title = /<title>([^<]*)<\/title>/.exec(text)?.[1] ?? "";
  const heading = (/<h1[^>]*>(.*?)<\/h1>/s.exec(text)?.[1] ?? "").replaceAll(/<[^>]*>/g, "").trim();
  const seconds = Number(headers.get("potluck-offline"));
  const kept = KEPT_HEADERS.map((name) => [name, headers.get(name)]).filter(([, value]) => value !== null);
  await inPages(async (stores) => {
    const device = await deviceIn(stores);
    if (device.who !== person || device.leaving) return;
    const time = timeOn(device, Date.now());
    const page = { address, person, at: Date.now(), until: time + seconds * 1000, title, heading, size: text.length };
    stores.pages.put(page);
    stores.texts.put({ text: text.replaceAll(KEYS, ""), headers: kept }, address);
    stores.device.put({ ...device, latest: time }, "state");
    await drop(stores, surplusOf(await of(stores.pages.getAll()), time));
  });
}

/** A thing is no longer there for this person: neither are its pages. */
const over = (thing) =>
  inPages(async (stores) => {
    const addresses = await of(stores.pages.getAllKeys());
    await drop(
      stores,
      addresses.filter((address) => isAbout(address, thing)),
    );
  });

async function savedPage(address) {
  const saved = await inPages(async (stores) => {
    const device = await deviceIn(stores);
    const page = await of(stores.pages.get(address));
    if (!page || !isShown(page, device, Date.now())) return null;
    stores.device.put({ ...device, latest: timeOn(device, Date.now()) }, "state");
    return { page, ...(await of(stores.texts.get(address))) };
  });
  if (!saved) return null;
  const marked = saved.text.replace("<body ", `<body data-saved-at="${saved.page.at}" `);
  return new Response(marked, { headers: [...saved.headers, ["cache-control", "no-store"]] });
}

const shellOf = (path) =>
  Object.entries(KNOWN.shells).find(([address]) => path === address || path.startsWith(`${address}/`))?.[1];

/** What a page opens with when the network does not answer. */
async function instead(address) {
  // What is asked of a page with a query, such as a filter, is answered with the page as it was saved.
  const page = await savedPage(address.pathname);
  const shell = shellOf(address.pathname);
  return page ?? (shell && (await cached(shell))) ?? null;
}

async function pageOf(event) {
  const { request } = event;
  const address = new URL(request.url);
  const device = await inPages(deviceIn);
  if (device?.leaving && !(await finishLeaving())) return (await cached(KNOWN.page)) ?? Response.error();
  const turn = turns;
  const network = fetch(request);
  // Also of a response that comes after the saved page is shown.
  event.waitUntil(network.then((answer) => take(address, answer, copyOf(address, answer), turn)).catch(() => {}));
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE));
  try {
    const answer = await Promise.race([network, late]);
    // 502 and 504 come from a proxy that cannot reach the server.
    if (answer && answer.status !== 502 && answer.status !== 504) return answer;
  } catch {
    return (await instead(address)) ?? (await cached(KNOWN.page)) ?? network;
  }
  return (await instead(address)) ?? network.catch(async () => (await cached(KNOWN.page)) ?? Response.error());
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (address.origin !== location.origin) return;
  const path = address.pathname;
  if (request.method === "POST") {
    // The request itself goes on unchanged: sent by a worker, it would claim to come from one of our pages.
    if (path === ENDING && request.referrer.startsWith(`${location.origin}/`)) event.waitUntil(forget());
    else if (path === ENDING || BEGINNING.has(path)) event.waitUntil(lock());
  }
  if (request.method !== "GET") return;
  if (path === RETURNING) event.waitUntil(lock());
  if (request.mode === "navigate") event.respondWith(pageOf(event));
  else if (path.startsWith("/static/") && !address.search) event.respondWith(fileOf(request, path));
});

// --- messages from pages ---

const acts = {
  /** A page has loaded: `page`, if this worker has not seen it, and the files that it used. */
  async keep({ page, files, path }) {
    await clients.claim();
    const shell = shellOf(path);
    if (shell && !(await cached(shell))) await (await caches.open(CACHE)).add(shell).catch(() => {});
    await keepFiles(files);
    if (!page) return;
    const turn = turns;
    const address = new URL(page);
    const answer = await fetch(page, { redirect: "manual" });
    await take(address, answer, copyOf(address, answer), turn);
  },
  over: ({ path }) => over(path),
  /** The modules of the apps with changes that wait for who is there. */
  async waiting() {
    const device = await inPages(deviceIn);
    const modules = [];
    for (const [app, module] of Object.entries(KNOWN.outboxes)) {
      const count = await inDatabase(`potluck-${app}`, async ({ about, changes }) => {
        const { id } = (await of(about.get("person"))) ?? {};
        const isThere = id !== undefined && isSamePerson(id, device.who ?? "-") && !(await of(about.get("locked")));
        return isThere ? of(changes.count()) : 0;
      });
      if (count) modules.push(module);
    }
    return modules;
  },
  leave: () => forget(true),
};

addEventListener("message", (event) => {
  const act = acts[event.data?.act];
  if (!act) return;
  event.waitUntil(
    act(event.data)
      .catch(() => null)
      .then((result) => event.ports[0]?.postMessage(result)),
  );
});
