// Keeps the page in step with the server: sending, live updates and retries; and with other windows of this browser.

import { listen } from "../../../web/static/js/kit/event-stream.js";
import { isOver } from "../../../web/static/js/kit/outbox.js";
import { send } from "../../../web/static/js/kit/send.js";
import { retries } from "../../../web/static/js/kit/turns.js";
import { fold } from "./line-parser.js";
import * as store from "./offline-store.js";
import { outbox } from "./outbox.js";
import { api, familyId, list, page, touched, update } from "./state.js";

/** @typedef {import("./changes.js").Item} Item */
/** @typedef {import("./outbox.js").Outcome} Outcome */

/** @type {() => Promise<Outcome>} */
let sendChanges = async () => "nothing";

/** From now on, pending changes can be sent. */
export function begin() {
  sendChanges = outbox({ api: api(), family: familyId(), onEvent: apply });
}

// --- the store, and other windows ---

const channel = "BroadcastChannel" in window ? new BroadcastChannel("potluck-shopping") : null;

// Another window of this browser changed something, sent it, or resolved a conflict.
channel?.addEventListener("message", () => page.list && reread());

export const announce = () => channel?.postMessage("changed");

// Reads the store again; `stored` is the change that was stored meanwhile.
/** @param {import("./changes.js").Change} [stored] */
export async function reread(stored) {
  const changes = await store.waitingChanges(familyId());
  const notices = await store.notices(familyId());
  page.changes = changes;
  page.notices = notices;
  if (stored) page.unstored.delete(stored);
  update();
}

let saving = 0;

/** The server's state has changed: shows and stores it. */
export function changed() {
  update();
  clearTimeout(saving);
  saving = setTimeout(save, 200);
}

export function save() {
  if (page.state === "not-yours") return;
  const stored = { ...list(), items: [...page.items.values()], at: page.fresh };
  store.storeList(familyId(), stored).catch(() => {});
}

// --- what the server says ---

// Adds stores that were created or renamed since the page was loaded, from the items bought there.
/** @param {Item} item */
function rememberStore({ storeId, storeName }) {
  if (!storeId || !storeName || page.storeNames.get(storeId) === storeName) return;
  page.storeNames.set(storeId, storeName);
  list().stores = [...page.storeNames]
    .map(([id, name]) => ({ storeId: id, name }))
    .sort((one, other) => (fold(one.name) < fold(other.name) ? -1 : 1));
}

/** @type {import("./outbox.js").OnEvent} */
export function apply(event, item) {
  if (event === "sent") {
    reread();
    announce();
    return;
  }
  // That is shown on another page.
  if (event === "adjusted") return;
  const id = item.shoppingItemId;
  const before = page.items.get(id);
  if (event === "deleted") page.items.delete(id);
  else if (!before || before.version <= item.version) {
    page.items.set(id, item);
    rememberStore(item);
  }
  changed();
}

/** @type {{ close: () => void } | null} */
let stream = null;

/** Listens for live updates from the position of the list. */
export function subscribe() {
  stream ??= listen(`${api()}/shopping-list/events?since=${encodeURIComponent(list().position)}`, {
    opened() {
      page.live = true;
      page.fresh = Date.now();
      isReachable();
      update();
      deliver();
    },
    heard({ name, data, id }) {
      list().position = id || list().position;
      page.fresh = Date.now();
      if (name === "reset") refresh();
      else if (name === "created" || name === "updated" || name === "deleted") {
        const item = JSON.parse(data);
        const isMine = page.changes.some((change) => change.id === item.shoppingItemId);
        const known = page.items.get(item.shoppingItemId);
        if (!isMine && name !== "deleted" && known?.version !== item.version) touched.add(item.shoppingItemId);
        apply(name === "deleted" ? name : "updated", item);
      }
    },
    lost() {
      page.live = false;
      update();
      attempts.soon();
    },
    over: refresh,
  });
}

function unsubscribe() {
  stream?.close();
  stream = null;
}

const isReachable = () => {
  if (page.state === "no-signal" || page.state === "later") page.state = "ok";
};

// --- sending ---

const attempts = retries(refresh);

/** Sends pending changes. */
export async function deliver() {
  const outcome = await sendChanges();
  if (outcome === "done") isReachable();
  else if (outcome === "no-signal" || outcome === "later") {
    page.state = outcome;
    attempts.soon();
  }
  // After nothing, whether there is signal is as unknown as before.
  else if (outcome !== "nothing") ended(outcome);
  await reread();
  if (isOver(outcome)) await deliverElsewhere();
}

/** Sends pending changes for the person's other families; the results are shown when those lists are opened. */
async function deliverElsewhere() {
  for (const family of await store.waitingPlaces()) {
    if (family === familyId()) continue;
    const sendOthers = outbox({
      api: `/api/v1/families/${family}`,
      family,
      onEvent: (event) => event === "sent" && announce(),
    });
    const outcome = await sendOthers();
    if (outcome === "not-yours") await store.forgetFamily(family);
    else if (!isOver(outcome)) return;
  }
}

/** @param {Outcome} why */
function ended(why) {
  page.state = why;
  page.live = false;
  unsubscribe();
  if (why === "not-yours") store.forgetFamily(familyId());
}

// --- reading the list again ---

/** @type {Promise<void> | null} */
let refreshing = null;

/** Reads the whole list again, sends pending changes, and listens for live updates from there. */
export function refresh() {
  attempts.cancel();
  refreshing ??= readAgain().finally(() => {
    refreshing = null;
  });
  return refreshing;
}

async function readAgain() {
  /** @type {Item[]} */
  const items = [];
  let cursor = "";
  let position = "";
  do {
    const after = cursor && `&cursor=${encodeURIComponent(cursor)}`;
    const { outcome, status, body } = await send(`${api()}/shopping-list?limit=100${after}`, { method: "GET" });
    if (outcome !== "done") {
      if (outcome === "signed-out" || status === 404) ended(outcome === "signed-out" ? outcome : "not-yours");
      else {
        page.state = "no-signal";
        page.live = false;
        attempts.soon();
      }
      update();
      return;
    }
    items.push(...body.items);
    position ||= body.position;
    cursor = body.nextCursor;
  } while (cursor);
  items.forEach(rememberStore);
  const before = page.items;
  page.items = new Map(
    items.map((item) => {
      const known = before.get(item.shoppingItemId);
      return [item.shoppingItemId, known && known.version > item.version ? known : item];
    }),
  );
  list().position = position;
  page.fresh = Date.now();
  page.state = "ok";
  attempts.reset();
  unsubscribe();
  changed();
  subscribe();
  await deliver();
}

/** Retries at once, without the current backoff. */
export function tryNow() {
  attempts.reset();
  return refresh();
}
