// Sends ticks and additions, each once and in order. They are kept on the device until then; their place is the short id.
//
// A tick says what its item is to be, so it can be repeated; an addition has its item's id.

import { isOver, outbox as outboxOf } from "../../../web/static/js/kit/outbox.js";
import { outboxStore } from "../../../web/static/js/kit/outbox-store.js";
import { send } from "../../../web/static/js/kit/send.js";
import { _ } from "../../../web/static/js/kit/words.js";
import { joined } from "./changes.js";

/** @typedef {import("./changes.js").Change} Change */
/** @typedef {import("../../../web/static/js/kit/outbox.js").Outcome} Outcome */
/** Where a change is settled. @typedef {Pick<import("../../../web/static/js/kit/outbox-store.js").OutboxStore, "finish">} Settling */

const GONE = 410;

export const store = outboxStore("shareables");

/** @param {Change} change */
export const addChange = (change) => store.add(change, joined);

/** @param {Change} change @param {Settling} [settling] @returns {Promise<Outcome>} */
export async function deliver(change, settling = store) {
  const { place, id, name } = change;
  const items = `/shareables/${place}/items`;
  const { outcome, status, type, message } =
    change.kind === "tick"
      ? await send(`${items}/${id}/change`, { form: { done: String(change.values.done) } })
      : await send(items, { form: { name, checklistItemId: id } });
  if (outcome !== "done" && outcome !== "refused") return outcome;
  // It has expired: its page says so.
  if (status === GONE) return "not-yours";
  // It was added before, and the answer was lost.
  const isRefused = outcome === "refused" && !type.endsWith("/already-exists");
  const gone = _("It’s no longer on the list");
  const notice = { kind: "refused", id, name, message: status === 404 && change.kind === "tick" ? gone : message };
  await settling.finish(change, null, isRefused ? notice : null);
  return "done";
}

/** @param {string} place @param {() => void} onSent */
export const outbox = (place, onSent) => outboxOf({ app: "shareables", store, place, deliver, onSent });

/** Sends what waits for any list of the person: from pages that show none. */
export async function deliverAll() {
  for (const place of await store.waitingPlaces()) {
    const outcome = await outbox(place, () => {})();
    if (outcome === "not-yours") await store.forgetPlace(place);
    else if (!isOver(outcome) && outcome !== "signed-out") return;
  }
}
