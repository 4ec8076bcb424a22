// Opens the list without signal, from a page without personal data, into which the list's script puts what it stored.
// The lines above this one, from the server, say what is cached (CACHED) and which worker this is (VERSION).
//
// It handles all pages, because people sign in and out elsewhere. Signing out leaves nothing on the device (where there is no
// worker, the server's response and the page see to that too). The next sign-in may be another person's, so the stored
// data stays locked until it is known who they are.

/* global VERSION, CACHED */

const PREFIX = "potluck-shopping-";
const CACHE = PREFIX + VERSION;
const SHELL = CACHED[0];
// How long, in milliseconds, to wait for a network that does not answer.
const PATIENCE = 4000;
const ENDING = "/sign-out";
const BEGINNING = new Set(["/sign-in", "/sign-up", "/reset"]);

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(CACHED.map((address) => new Request(address, { cache: "reload" })))),
  );
});

addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
      await clients.claim();
    })(),
  );
});

addEventListener("message", (event) => {
  if (event.data === "claim") event.waitUntil(clients.claim());
});

// --- people's data ---

function inDatabase(work) {
  return new Promise((resolve) => {
    const asking = indexedDB.open("potluck-shopping");
    asking.onupgradeneeded = () => asking.transaction.abort();
    asking.onerror = () => resolve();
    asking.onsuccess = () => {
      const database = asking.result;
      const transaction = database.transaction([...database.objectStoreNames], "readwrite");
      transaction.oncomplete = transaction.onabort = () => {
        database.close();
        resolve();
      };
      work(transaction);
    };
  });
}

const forget = () =>
  inDatabase((transaction) => {
    for (const name of transaction.objectStoreNames) transaction.objectStore(name).clear();
  });

// For a family that the person is no longer in.
const forgetList = (family) => inDatabase((transaction) => transaction.objectStore("lists").delete(family));

const lock = () => inDatabase((transaction) => transaction.objectStore("about").put(true, "locked"));

// --- requests ---

const cached = (address) => caches.open(CACHE).then((cache) => cache.match(address));

async function pageOf(event) {
  const shell = await cached(SHELL);
  const network = fetch(event.request);
  if (!shell) return network;
  // A late failure must not be unhandled; a late response is left to finish, even after the cached page is shown.
  network.catch(() => {});
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE));
  try {
    const answer = await Promise.race([network, late]);
    const family = /^\/shopping\/([0-9a-f-]{36})$/.exec(new URL(event.request.url).pathname)?.[1];
    if (answer?.status === 404 && family) event.waitUntil(forgetList(family));
    // 502 and 504 come from a proxy that cannot reach the server.
    if (answer && answer.status !== 502 && answer.status !== 504) return answer;
  } catch {
    // No network at all.
  }
  return shell;
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (address.origin !== location.origin) return;
  if (request.method === "POST") {
    // The request itself goes on unchanged: sent by a worker, it would claim to come from one of our pages.
    if (address.pathname === ENDING && request.referrer.startsWith(`${location.origin}/`)) event.waitUntil(forget());
    else if (address.pathname === ENDING || BEGINNING.has(address.pathname)) event.waitUntil(lock());
    return;
  }
  if (request.method !== "GET") return;
  if (request.mode === "navigate") {
    if (/^\/shopping(\/|$)/.test(address.pathname)) event.respondWith(pageOf(event));
    return;
  }
  const plain = address.pathname + address.search;
  if (plain !== SHELL && CACHED.includes(plain))
    event.respondWith(cached(plain).then((answer) => answer ?? fetch(request)));
});
