// Pending changes of a list: pure functions.

/**
 * A tick sets `values.done` of the item with this id; an addition makes one with this id and `name`.
 * @typedef {import("../../../web/static/js/kit/outbox-store.js").Pending & { kind: "tick" | "add", name: string }} Change
 */

/**
 * How the stored changes of an item change when another is made: of several ticks the last one counts.
 * @param {Change[]} earlier
 * @param {Change} change
 */
export function joined(earlier, change) {
  const last = earlier.at(-1);
  const replaces = change.kind === "tick" && last?.kind === "tick" && !last.sent;
  return { drop: [], put: [replaces ? { ...last, values: change.values } : change] };
}

/** What each item with a pending tick is to be. @param {Change[]} changes @returns {Map<string, boolean>} */
export const wanted = (changes) =>
  new Map(changes.filter(({ kind }) => kind === "tick").map(({ id, values }) => [id, values.done]));
