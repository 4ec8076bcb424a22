// Optimistic ticking: a row is ticked at once, then sent. If it is ticked again while in flight, only the last state is sent.

import { childrenOf, maybe, one, setText } from "../../../web/static/js/kit/elements.js";
import { on } from "../../../web/static/js/kit/events.js";
import { refresh } from "../../../web/static/js/kit/live.js";
import { clock, isSameDay } from "../../../web/static/js/kit/time.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";
import { sendForm, tell, watch } from "./unsent-changes.js";

/** @typedef {{ address: string, wanted: boolean, sending: boolean, failed: boolean }} Tick */

const list = one(document, "#contents");
/** By the row's id. @type {Map<string, Tick>} */
const ticks = new Map();
/** Ticked here and accepted: the server's own event about it is no news. @type {Map<string, boolean>} */
const mine = new Map();

/** @param {HTMLElement} row */
const button = (row) => maybe(row, "[data-tick] [role=checkbox]");
/** @param {HTMLElement} row */
const isDone = (row) => button(row)?.getAttribute("aria-checked") === "true";

/** @param {HTMLElement} row */
function draw(row) {
  const tick = ticks.get(row.id);
  row.classList.toggle("waiting", Boolean(tick));
  one(row, ".unsent").hidden = !tick?.failed;
  const box = button(row);
  if (!tick || !box) return;
  box.setAttribute("aria-checked", String(tick.wanted));
  one(row, "[name=done]", HTMLInputElement).value = String(!tick.wanted);
}

function drawAll() {
  childrenOf(list).forEach(draw);
  count();
  tell();
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

/** @param {string} id @param {Tick} tick */
async function push(id, tick) {
  if (tick.sending) return;
  tick.sending = true;
  let sent;
  let answer;
  do {
    sent = tick.wanted;
    answer = await sendForm(tick.address, { done: String(sent) });
  } while (answer.outcome === "done" && sent !== tick.wanted);
  tick.sending = false;
  tick.failed = answer.waits;
  if (!tick.failed) ticks.delete(id);
  if (answer.outcome === "done") mine.set(id, sent);
  const row = document.getElementById(id);
  if (row && answer.outcome === "refused") {
    button(row)?.setAttribute("aria-checked", String(!sent));
    toast(answer.message);
    refresh(list);
  }
  // Without live updates, the page has to ask.
  else if (answer.outcome === "done" && maybe(document, "[data-live-badge].off")) refresh(list);
  drawAll();
}

on(list, "submit", "[data-tick]", (form, event) => {
  event.preventDefault();
  const row = /** @type {HTMLElement} */ (form.closest("li"));
  const { action: address } = /** @type {HTMLFormElement} */ (form);
  const tick = ticks.get(row.id) ?? { address, wanted: false, sending: false, failed: false };
  tick.wanted = !isDone(row);
  ticks.set(row.id, tick);
  drawAll();
  push(row.id, tick);
});

const failed = () => [...ticks].filter(([, tick]) => tick.failed && !tick.sending);

watch({
  count: () => failed().length,
  words: (count) => ngettext("%(num)s tick isn’t saved yet.", "%(num)s ticks aren’t saved yet.", count),
  again() {
    for (const [id, tick] of failed()) push(id, tick);
  },
});

// --- changes by others ---

new MutationObserver((changes) => {
  /** @param {NodeList} nodes */
  const rows = (nodes) => [...nodes].filter((node) => node instanceof HTMLElement);
  const gone = new Map(changes.flatMap(({ removedNodes }) => rows(removedNodes)).map((row) => [row.id, row]));
  for (const row of changes.flatMap(({ addedNodes }) => rows(addedNodes))) {
    const before = gone.get(row.id);
    if (before && button(before) && !isDone(before) && isDone(row) && !ticks.has(row.id))
      toast(_("Someone ticked %(name)s.", { name: one(row, ".row-name").textContent ?? "" }));
    // Only changes by others are highlighted.
    const own = mine.get(row.id) ?? ticks.get(row.id)?.wanted;
    if (before && own === isDone(row)) row.classList.remove("changed");
    mine.delete(row.id);
  }
  drawAll();
}).observe(list, { childList: true });
drawAll();
