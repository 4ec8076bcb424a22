// The state of the page: the server's last state, and pending changes. After a change of it, `update` is called.

import { one } from "../../../web/static/js/kit/elements.js";
import { withChanges } from "./changes.js";

/** @typedef {import("./changes.js").Item} Item */
/** @typedef {import("./changes.js").Change} Change */
// The list as received from the server.
/** @typedef {{ person: { id: string, name: string, initials: string }, items: Item[], position: string } & Lists} List */
/** @typedef {{ family: any, families: any[], stores: any[], suggestions: any[] }} Lists */

export const root = one(document, "#shopping");
/** @param {string} name */
export const part = (name) => one(root, `[data-${name}]`);

export const page = {
  home: root.dataset.home ?? "",
  /** @type {List | null} */
  list: null,
  /** @type {Map<string, Item>} */
  items: new Map(),
  /** @type {Change[]} */
  changes: [],
  /** Changes made a moment ago that are not stored yet; they are shown already. @type {Set<Change>} */
  unstored: new Set(),
  /** @type {any[]} */
  notices: [],
  /** @type {Map<string, string>} */
  storeNames: new Map(),
  /** The store that the list is filtered by, if any. */
  filter: new URLSearchParams(location.search).get("store") ?? "",
  /** @type {import("./outbox.js").Outcome | "ok"} */
  state: "ok",
  /** Whether changes of others arrive; null until the stream has opened or failed. @type {boolean | null} */
  live: null,
  fresh: Date.now(),
  showsWaiting: false,
  /** The items as shown, with all pending changes applied. @type {Map<string, Item>} */
  shown: new Map(),
  /** Since when the items with pending changes wait. @type {Map<string, number>} */
  waiting: new Map(),
};

/** Ticked a moment ago, and not moved to the purchased ones yet. @type {Set<string>} */
export const lingering = new Set();
/** Just changed by another member: highlighted once. @type {Set<string>} */
export const touched = new Set();

/** The list, once it is known whose it is. */
export const list = () => /** @type {List} */ (page.list);
export const familyId = () => /** @type {string} */ (list().family.familyId);
export const api = () => `/api/v1/families/${familyId()}`;

/** Another window's message can have loaded a change after it was stored and before it was removed from here. */
export const unstored = () =>
  [...page.unstored].filter(({ key }) => !page.changes.some((change) => change.key === key));

/** @type {() => void} */
let draw = () => {};

/** Who shows the state. @param {() => void} act */
export function onUpdate(act) {
  draw = act;
}

/** The state has changed: applies the pending changes, and has it shown. */
export function update() {
  if (!page.list) return;
  const { all, waiting } = withChanges(page.items, [...page.changes, ...unstored()], page.list.person);
  page.shown = all;
  page.waiting = waiting;
  draw();
}
