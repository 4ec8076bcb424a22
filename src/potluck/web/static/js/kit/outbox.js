// Sends pending changes, each once and in order; an app says how one is sent, and what its outcome means.

import { coalesced } from "./turns.js";

/** @typedef {import("./outbox-store.js").OutboxStore} OutboxStore */
// The result of sending: `nothing` if there was nothing to send.
/** @typedef {"done" | "nothing" | "no-signal" | "signed-out" | "not-yours" | "later"} Outcome */

/** Whether nothing is left to send. @param {Outcome} outcome */
export const isOver = (outcome) => outcome === "done" || outcome === "nothing";

/**
 * The function that sends the pending changes of a place. `deliver` sends one, settles it in the store, and resolves to
 * "done", or to why the rest has to wait; `onSent` is called after each.
 * @param {{ app: string, store: OutboxStore, place: string, deliver: (change: any) => Promise<Outcome>, onSent: () => void }} options
 */
export function outbox({ app, store, place, deliver, onSent }) {
  /** @returns {Promise<Outcome>} */
  async function deliverAll() {
    for (let any = false; ; any = true) {
      const change = await store.claimFirst(place);
      if (!change) return any ? "done" : "nothing";
      const outcome = await deliver(change);
      if (outcome !== "done") return outcome;
      onSent();
    }
  }

  // Two windows must not send the same change; in browsers without locks, the idempotency key prevents doing it twice.
  const alone = () => (navigator.locks ? navigator.locks.request(`potluck-${app}-${place}`, deliverAll) : deliverAll());

  return coalesced(async (/** @type {Outcome | undefined} */ before) => {
    const outcome = await alone();
    return outcome === "nothing" ? (before ?? outcome) : outcome;
  });
}
