// What the page knows, for all that draw it and change it: what the server last said, and what waits here.

import { root } from "./elements.js";

export const page = {
  home: root.dataset.home,
  // As the server gave it: person, family, families, stores, suggestions, position.
  kept: null,
  items: new Map(),
  changes: [],
  // Changes that were made here a moment ago and are not kept yet: they are shown all the same.
  unkept: new Set(),
  notices: [],
  storeNames: new Map(),
  // The store that is looked at, if only one is.
  filter: new URLSearchParams(location.search).get("store") ?? "",
  // ok, no-signal, later, signed-out or not-yours
  state: "ok",
  live: false,
  fresh: Date.now(),
  showsWaiting: false,
  // The items as they are shown, with all that waits.
  shown: new Map(),
};

// Ticked a moment ago, and not gone to the purchased ones yet.
export const lingering = new Set();
// What somebody else just changed: it is tinted once.
export const touched = new Set();

export const api = () => `/api/v1/families/${page.kept.family.familyId}`;
