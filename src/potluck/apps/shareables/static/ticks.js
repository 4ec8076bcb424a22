// Optimistic ticking: a row is ticked at once, then stored and sent. If it is ticked again before that, only the last state
// is sent.

import { childrenOf, maybe, one, setText } from "../../../web/static/js/kit/elements.js";
import { on } from "../../../web/static/js/kit/events.js";
import { refresh } from "../../../web/static/js/kit/live.js";
import { clock, isSameDay } from "../../../web/static/js/kit/time.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { _ } from "../../../web/static/js/kit/words.js";
import { wanted } from "./changes.js";
import { addedRow, changes, isRefused, isWaiting, make, onUpdate } from "./unsent-changes.js";

const list = one(document, "#contents");
const added = one(document, "[data-added]");
/** Ticked here: the server's own event about it is no news. @type {Map<string, boolean>} */
const mine = new Map();

/** @param {HTMLElement} row */
const button = (row) => maybe(row, "[data-tick] [role=checkbox]");
/** @param {HTMLElement} row */
const isDone = (row) => button(row)?.getAttribute("aria-checked") === "true";

/** @param {HTMLElement} row */
const idOf = (row) => row.id.replace("item-", "");
/** @param {HTMLElement} row */
const nameOf = (row) => one(row, ".row-name").textContent ?? "";

/** What the server has said of a row, while a tick of it is pending. @type {WeakMap<HTMLElement, string>} */
const before = new WeakMap();

/** @param {HTMLElement} row @param {boolean | undefined} done what a pending tick makes of it */
function draw(row, done) {
  const id = idOf(row);
  row.classList.toggle("waiting", done !== undefined);
  one(row, ".unsent").hidden = done === undefined || !isWaiting();
  const box = button(row);
  if (!box) return;
  const shown = box.getAttribute("aria-checked") ?? "false";
  if (done === undefined && !before.has(row)) return;
  if (done !== undefined && !before.has(row)) before.set(row, shown);
  // A tick that was taken stays; one that was refused is taken back.
  const after = isRefused(id) ? (before.get(row) ?? shown) : shown;
  const checked = done === undefined ? after : String(done);
  if (done === undefined) before.delete(row);
  box.setAttribute("aria-checked", checked);
  one(row, "[name=done]", HTMLInputElement).value = String(checked !== "true");
}

function drawAll() {
  const pending = wanted(changes());
  for (const row of childrenOf(list)) draw(row, pending.get(idOf(row)));
  const missing = changes().filter(({ kind, id }) => kind === "add" && !document.getElementById(`item-${id}`));
  added.hidden = missing.length === 0;
  added.replaceChildren(...missing.map(addedRow));
  count();
}

// --- progress ---

const progress = one(document, "[data-progress]");

function count() {
  const rows = childrenOf(list);
  const done = rows.filter((row) => isDone(row) || maybe(row, ".was-done")).length;
  setText(one(progress, "[data-counted]"), _("%(done)s of %(all)s done", { done, all: rows.length }));
  one(progress, ".bar-fill").setAttribute("width", `${rows.length ? (100 * done) / rows.length : 0}%`);
  const times = rows.map((row) => row.dataset.doneAt).filter((at) => at !== undefined);
  const last = times.sort().at(-1);
  if (!last) setText(one(progress, "[data-last]"), "");
  else if (isSameDay(new Date(last), new Date()))
    setText(one(progress, "[data-last]"), _("Last ticked %(time)s", { time: clock(last) }));
}

// --- ticking ---

on(list, "submit", "[data-tick]", (form, event) => {
  event.preventDefault();
  const row = /** @type {HTMLElement} */ (form.closest("li"));
  const done = !isDone(row);
  mine.set(row.id, done);
  make("tick", idOf(row), { name: nameOf(row), values: { done } });
});

onUpdate(drawAll, () => {
  // Without live updates, the page has to ask.
  if (maybe(document, "[data-live-badge].off")) refresh(list);
});

// --- changes by others ---

new MutationObserver((changes) => {
  /** @param {NodeList} nodes */
  const rows = (nodes) => [...nodes].filter((node) => node instanceof HTMLElement);
  const gone = new Map(changes.flatMap(({ removedNodes }) => rows(removedNodes)).map((row) => [row.id, row]));
  for (const row of changes.flatMap(({ addedNodes }) => rows(addedNodes))) {
    const before = gone.get(row.id);
    if (before && button(before) && !isDone(before) && isDone(row) && !mine.has(row.id))
      toast(_("Someone ticked %(name)s.", { name: nameOf(row) }));
    // Only changes by others are highlighted.
    const own = mine.get(row.id);
    if (before && own === isDone(row)) row.classList.remove("changed");
    mine.delete(row.id);
  }
  drawAll();
}).observe(list, { childList: true });
drawAll();
