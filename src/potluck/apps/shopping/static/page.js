// The state of the page, for the scripts that render and change it: the server's last state, and pending changes.

import { root } from "./elements.js";

export const page = {
  home: root.dataset.home,
  // As received from the server: person, family, families, stores, suggestions, position.
  kept: null,
  items: new Map(),
  changes: [],
  // Changes made a moment ago that are not stored yet; they are shown already.
  unkept: new Set(),
  notices: [],
  storeNames: new Map(),
  // The store that the list is filtered by, if any.
  filter: new URLSearchParams(location.search).get("store") ?? "",
  // ok, no-signal, later, signed-out or not-yours
  state: "ok",
  live: false,
  fresh: Date.now(),
  showsWaiting: false,
  // The items as shown, with all pending changes applied.
  shown: new Map(),
};

// Ticked a moment ago, and not moved to the purchased ones yet.
export const lingering = new Set();
// Just changed by somebody else: highlighted once.
export const touched = new Set();

export const api = () => `/api/v1/families/${page.kept.family.familyId}`;
