// Sends entries that were written offline, each once and in order. On the device they are encrypted.
//
// An entry has its id from the form, so a repeated one changes nothing, and is refused if the first one was edited elsewhere.
// One that is refused waits for its author to open it.

import { outbox as outboxOf } from "../../../web/static/js/kit/outbox.js";
import { newId, send } from "../../../web/static/js/kit/send.js";
import { store } from "./outbox-store.js";
import { seal, storedKey, unsealed } from "./sealing.js";

/** @typedef {import("../../../web/static/js/kit/outbox.js").Outcome} Outcome */
/** @typedef {[string, string][]} Fields */

/** The place of all entries: they are sent in the order in which they were written. */
export const PLACE = "entries";

// All that a device has seen of an entry that it still has to send.
const FIRST_VERSION = "1";

/** @param {string} id */
const nameOf = (id) => `potluck-entry-${id}`;

/** The fields of a stored entry, or of the notice about it. @param {any} stored @param {CryptoKey} key @returns {Promise<Fields>} */
export const fieldsOf = (stored, key) => unsealed(nameOf(stored.id), stored.values.sealed, key);

/** Stores an entry until it can be sent. @param {Fields} fields @param {string} id @param {CryptoKey} key */
export async function keepEntry(fields, id, key) {
  const values = { sealed: await seal(nameOf(id), fields, key) };
  const { person = "" } = document.body.dataset;
  await store.add({ place: PLACE, person, kind: "entry", id, key: newId(), at: Date.now(), values, sent: false });
}

/** @param {any} change @returns {Promise<Outcome>} */
async function deliver(change) {
  const key = await storedKey();
  // Until its author is there again.
  if (!key) return "signed-out";
  /** @type {Fields} */
  let form;
  try {
    form = await fieldsOf(change, key);
  } catch {
    // The server has another secret by now: no one can read it any more.
    await store.finish(change);
    return "done";
  }
  const { outcome, message } = await send("/journal/entries", { form: [...form, ["version", FIRST_VERSION]] });
  if (outcome !== "done" && outcome !== "refused") return outcome;
  const { id, values, at } = change;
  const notice = outcome === "refused" ? { kind: "entry", id, values, writtenAt: at, message } : null;
  await store.finish(change, null, notice);
  return "done";
}

/** @param {() => void} onSent */
export const outbox = (onSent) => outboxOf({ app: "journal", store, place: PLACE, deliver, onSent });

/** Sends what waits: from pages that show none of it. */
export const deliverAll = () => outbox(() => {})();
