// Sends pending changes, each once and in order, and handles the outcome of each.
//
// A change refused by a version conflict is rebased and sent again, unless both sides changed the same field to
// different values: that is for the person to decide, and becomes a notice.

import { clashes, nameOf, stepInWords } from "./changes.js";
import * as keeping from "./keeping.js";

export const PATIENCE = 15_000;
// How long, in milliseconds, the server is sure to know an idempotency key: it keeps them for a day.
const KEY_KEPT = 23 * 60 * 60 * 1000;

// Not crypto.randomUUID, which browsers have over https only.
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join("-");
}

export class NoSignal extends Error {}

// The server's response, whatever its status; NoSignal if there was none, or if something in between sent it.
export async function asked(address, options = {}) {
  let answer;
  try {
    answer = await fetch(address, {
      ...options,
      headers: { accept: "application/json", ...options.headers },
      signal: AbortSignal.timeout(PATIENCE),
      cache: "no-store",
    });
  } catch (error) {
    throw new NoSignal("nobody answered", { cause: error });
  }
  if (answer.status === 502 || answer.status === 504) throw new NoSignal("nobody answered");
  const json = /\bjson\b/.test(answer.headers.get("content-type") ?? "");
  let body = null;
  try {
    if (json) body = await answer.json();
  } catch (error) {
    throw new NoSignal("the answer broke off", { cause: error });
  }
  // A captive portal answers every request with its own page.
  if (answer.ok && answer.status !== 204 && !json) throw new NoSignal("somebody else answered");
  return { status: answer.status, ok: answer.ok, body, type: body?.type ?? "" };
}

const without = (values, ...fields) =>
  Object.fromEntries(Object.entries(values).filter(([field]) => !fields.includes(field)));

const only = (values, fields) => Object.fromEntries(fields.map((field) => [field, values[field]]));

// The current values of the fields that a change sets.
const asSeen = (current, change) =>
  Object.fromEntries(Object.keys(change.values).map((field) => [field, current[field]]));

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
  if (change.kind === "status")
    return ["PATCH", `${item}/status`, { status: change.values.status, version }];
  if (change.kind === "edit") return ["PATCH", item, { ...change.values, version }];
  return ["DELETE", item, null];
}

// Whether nothing is left to send.
export const over = (outcome) => outcome === "done" || outcome === "nothing";

export function sender({ api, family, told }) {
  const list = `${api}/shopping-list`;

  // The outcome of one change: "done", or why the rest has to wait.
  async function sent(change) {
    if (change.kind === "adjust" && change.sentAt && Date.now() - change.sentAt > KEY_KEPT) return unknown(change);
    const [method, address, body] = request(api, change);
    const answer = await asked(address, {
      method,
      headers: { "idempotency-key": change.key, ...(body ? { "content-type": "application/json" } : {}) },
      body: body && JSON.stringify(body),
    });
    if (answer.ok) {
      if (change.kind === "adjust") told("adjusted", answer.body, change);
      else if (answer.body) told("updated", answer.body);
      else told("deleted", { shoppingItemId: change.id });
      await keeping.finish(change, answer.body?.version ?? null);
      return "done";
    }
    if (answer.status === 401) return "signed-out";
    if (answer.status === 429 || answer.status >= 500) return "later";
    if (answer.status === 404) return missing(change);
    if (answer.type.endsWith("/version-conflict")) return overtaken(change, answer.body.current);
    if (answer.type.endsWith("/already-exists")) {
      const { existing } = answer.body;
      if (existing) told("updated", existing);
      await keeping.finish(change, existing?.version ?? null);
      return "done";
    }
    if (answer.type.endsWith("/duplicate-item")) return twice(change, answer.body.existing);
    const message = answer.body?.errors?.map((each) => each.message).join(". ") || answer.body?.detail || "It was refused";
    await refused(change, message);
    return "done";
  }

  // Other pending changes of an existing item are still sent: a tick stays ticked.
  function refused(change, message) {
    const notice = { kind: "refused", name: nameOf(change), message };
    return change.kind === "add" ? keeping.giveUp(change, notice) : keeping.finish(change, change.seen, notice);
  }

  // Other changes are safe to repeat after a day; a repeated step could count twice.
  async function unknown(change) {
    const step = stepInWords(change);
    await refused(change, `Nobody knows whether “${step}” counted, a day ago. Look how many there are`);
    return "done";
  }

  async function missing(change) {
    const home = await asked(api);
    if (home.status === 404) return "not-yours";
    if (!home.ok) return home.status === 401 ? "signed-out" : "later";
    if (change.kind === "adjust") {
      const message = "It is not in the inventory any more";
      await keeping.giveUp(change, { kind: "refused", name: nameOf(change), message });
      return "done";
    }
    const there = change.kind !== "add" && (await asked(`${list}/${change.id}`));
    if (there && !there.ok && there.status !== 404) return "later";
    const { itemId, storeId } = change.values ?? {};
    if ((change.kind === "add" || there.ok) && (itemId || storeId)) {
      // Its inventory item, or else its store, is gone; the thing itself is still wanted, as it was shown.
      const values = itemId
        ? { ...change.shown, ...without(change.values, "itemId") }
        : { ...change.values, storeId: null };
      await keeping.changed({ ...change, values, key: newId() });
      return "done";
    }
    if (change.kind === "delete") await keeping.finish(change);
    else await keeping.giveUp(change, { kind: "gone", name: nameOf(change), change });
    told("deleted", { shoppingItemId: change.id });
    return "done";
  }

  async function overtaken(change, current) {
    told("updated", current);
    const fields = clashes(change, current);
    const same = Object.entries(change.values).every(([field, value]) => current[field] === value);
    if (same) await keeping.finish(change, current.version);
    else if (fields.length === 0)
      await keeping.changed({ ...change, seen: current.version, before: asSeen(current, change), key: newId() });
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
      // Fields that nobody else changed need no decision, and are kept whatever is chosen.
      const values = without(change.values, ...fields);
      if (Object.keys(values).length === 0) await keeping.finish(change, current.version, notice);
      else {
        const rest = { ...change, values, seen: current.version, key: newId() };
        await keeping.changed({ ...rest, before: asSeen(current, rest) }, notice);
      }
    }
    return "done";
  }

  async function twice(change, existing) {
    told("updated", existing);
    if (change.kind !== "add") {
      await refused(change, "It is on the list already");
      return "done";
    }
    await keeping.leadOver(change, existing);
    return "done";
  }

  async function run() {
    for (let any = "nothing"; ; any = "done") {
      const change = await keeping.claimFirst(family);
      if (!change) return any;
      let outcome;
      try {
        outcome = await sent(change);
      } catch (error) {
        if (error instanceof NoSignal) return "no-signal";
        throw error;
      }
      if (outcome !== "done") return outcome;
      told("sent", null);
    }
  }

  // Two windows must not send the same change; in browsers without locks, the idempotency key prevents doing it twice.
  const alone = () => (navigator.locks ? navigator.locks.request(`potluck-shopping-${family}`, run) : run());

  let busy = null;
  let again = false;

  // Sends pending changes; resolves to done, nothing (no request was made), no-signal, signed-out, not-yours or later.
  return function send() {
    again = true;
    busy ??= (async () => {
      let outcome = "nothing";
      try {
        while (again && over(outcome)) {
          again = false;
          const next = await alone();
          if (next !== "nothing") outcome = next;
        }
      } finally {
        busy = null;
      }
      return outcome;
    })();
    return busy;
  };
}
