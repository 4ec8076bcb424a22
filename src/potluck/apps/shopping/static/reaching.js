// Keeps the page in sync with the server: sending, live updates and retries.

import { announce, reread } from "./doing.js";
import { draw, drawFresh } from "./drawing.js";
import * as keeping from "./keeping.js";
import { fold } from "./lines.js";
import { api, page, touched } from "./page.js";
import { NoSignal, asked, over, sender } from "./sending.js";

// Between two attempts, in milliseconds.
const FIRST_TRY = 1500;
const LAST_TRY = 15_000;

let send = async () => "nothing";

// From now on, pending changes can be sent.
export function begun() {
  send = sender({ api: api(), family: page.kept.family.familyId, told });
}

let saving = 0;

// The server's state has changed: renders and stores it.
export function changed() {
  draw();
  clearTimeout(saving);
  saving = setTimeout(save, 200);
}

export function save() {
  if (page.state === "not-yours") return;
  const list = { ...page.kept, items: [...page.items.values()], at: page.fresh };
  keeping.keepList(page.kept.family.familyId, list).catch(() => {});
}

// Learns of stores that were created or renamed since the page was loaded, from the items bought there.
function learn({ storeId, storeName }) {
  if (!storeId || !storeName || page.storeNames.get(storeId) === storeName) return;
  page.storeNames.set(storeId, storeName);
  page.kept.stores = [...page.storeNames]
    .map(([id, name]) => ({ storeId: id, name }))
    .sort((one, other) => (fold(one.name) < fold(other.name) ? -1 : 1));
}

export function told(event, item) {
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
    learn(item);
  }
  changed();
}

let stream = null;

export function hear() {
  if (stream && stream.readyState !== EventSource.CLOSED) return;
  stream = new EventSource(`${api()}/shopping-list/events?since=${encodeURIComponent(page.kept.position)}`);
  const source = stream;
  source.onopen = () => {
    page.live = true;
    page.fresh = Date.now();
    if (page.state === "no-signal" || page.state === "later") page.state = "ok";
    draw();
    deliver();
  };
  source.onerror = () => {
    page.live = false;
    drawFresh();
    if (source === stream) soon();
  };
  for (const name of ["created", "updated", "deleted"])
    source.addEventListener(name, (event) => {
      page.kept.position = event.lastEventId || page.kept.position;
      page.fresh = Date.now();
      const item = JSON.parse(event.data);
      const mine = page.changes.some((each) => each.id === item.shoppingItemId);
      const known = page.items.get(item.shoppingItemId);
      if (!mine && name !== "deleted" && known?.version !== item.version) touched.add(item.shoppingItemId);
      told(name, item);
    });
  source.addEventListener("reset", () => reach());
}

let trying = 0;
let pause = FIRST_TRY;

function soon(after = pause) {
  clearTimeout(trying);
  trying = setTimeout(reach, after);
  pause = Math.min(LAST_TRY, pause * 1.6);
}

export async function deliver() {
  const outcome = await send();
  if (outcome === "done") {
    if (page.state === "no-signal" || page.state === "later") page.state = "ok";
  } else if (outcome === "nothing") {
    // No request was made, so whether there is signal is as unknown as before.
  } else if (outcome === "no-signal" || outcome === "later") {
    page.state = outcome;
    soon();
  } else ended(outcome);
  await reread();
  if (over(outcome)) await deliverElsewhere();
}

// Sends pending changes for the person's other families; the results are shown when those lists are opened.
async function deliverElsewhere() {
  for (const family of await keeping.waitingFamilies()) {
    if (family === page.kept.family.familyId) continue;
    const others = (event) => event === "sent" && announce();
    const outcome = await sender({ api: `/api/v1/families/${family}`, family, told: others })();
    if (outcome === "not-yours") await keeping.forgetFamily(family);
    else if (!over(outcome)) return;
  }
}

function ended(why) {
  page.state = why;
  page.live = false;
  stream?.close();
  stream = null;
  if (why === "not-yours") keeping.forgetFamily(page.kept.family.familyId);
}

// Reads the whole list again, sends pending changes, and listens for live updates from there.
let reaching = null;

export function reach() {
  clearTimeout(trying);
  reaching ??= reached().finally(() => (reaching = null));
  return reaching;
}

async function reached() {
  try {
    const all = [];
    let cursor = null;
    let position = null;
    do {
      const after = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
      const answer = await asked(`${api()}/shopping-list?limit=100${after}`);
      if (answer.status === 401 || answer.status === 404) {
        ended(answer.status === 401 ? "signed-out" : "not-yours");
        draw();
        return;
      }
      if (!answer.ok) throw new NoSignal("not now");
      all.push(...answer.body.items);
      position ??= answer.body.position;
      cursor = answer.body.nextCursor;
    } while (cursor);
    for (const item of all) learn(item);
    const before = page.items;
    page.items = new Map(
      all.map((item) => {
        const known = before.get(item.shoppingItemId);
        return [item.shoppingItemId, known && known.version > item.version ? known : item];
      }),
    );
    page.kept.position = position;
    page.fresh = Date.now();
    page.state = "ok";
    pause = FIRST_TRY;
    stream?.close();
    stream = null;
    changed();
    hear();
    await deliver();
  } catch (error) {
    if (!(error instanceof NoSignal)) throw error;
    page.state = "no-signal";
    page.live = false;
    draw();
    soon();
  }
}

// Retries at once, without the current backoff.
export function tryNow() {
  pause = FIRST_TRY;
  return reach();
}
