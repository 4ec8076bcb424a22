// Optimistic ticking: a row is ticked at once, then sent. If it is ticked again while in flight, only the last state is sent.

import { send, toast } from "./sending.js";
import { tell, waits } from "./unsent.js";

const list = document.getElementById("contents");
// By the row's id: the wanted state, whether it is in flight, and whether it failed.
const ticks = new Map();
// Ticked here and accepted: the server's own event about it is no news.
const mine = new Map();

const button = (row) => row.querySelector("[data-tick] [role=checkbox]");
const isDone = (row) => button(row)?.getAttribute("aria-checked") === "true";
const nameOf = (row) => row.querySelector(".row-name").textContent;

function draw(row) {
  const tick = ticks.get(row.id);
  row.classList.toggle("waiting", Boolean(tick));
  row.querySelector(".unsent").hidden = !tick?.failed;
  if (!tick || !button(row)) return;
  button(row).setAttribute("aria-checked", tick.wanted);
  row.querySelector("[name=done]").value = !tick.wanted;
}

function drawAll() {
  for (const row of list.children) draw(row);
  count();
  tell();
}

// --- progress ---

const progress = document.querySelector("[data-progress]");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

function count() {
  const rows = [...list.children];
  const done = rows.filter((row) => isDone(row) || row.querySelector(".was-done")).length;
  const said = `${done} of ${rows.length} done`;
  const counted = progress.querySelector("[data-counted]");
  if (counted.textContent !== said) counted.textContent = said;
  progress.querySelector(".bar-fill").setAttribute("width", `${rows.length ? (100 * done) / rows.length : 0}%`);
  const last = rows.map((row) => row.dataset.doneAt).filter(Boolean).sort().at(-1);
  const at = last && new Date(last);
  if (at && at.toDateString() === new Date().toDateString())
    progress.querySelector("[data-last]").textContent = `last tick ${clock.format(at)}`;
  else if (!at) progress.querySelector("[data-last]").textContent = "";
}

// --- ticking ---

async function push(id) {
  const tick = ticks.get(id);
  if (tick.sending) return;
  tick.sending = true;
  let sent;
  let went;
  do {
    sent = tick.wanted;
    went = await send(tick.address, { done: sent });
  } while (went.how === "done" && sent !== tick.wanted);
  tick.sending = false;
  tick.failed = went.how === "no-signal" || went.how === "later";
  if (!tick.failed) ticks.delete(id);
  if (went.how === "done") mine.set(id, sent);
  const row = document.getElementById(id);
  if (row && went.how === "refused") {
    button(row)?.setAttribute("aria-checked", !sent);
    toast(went.words);
    list.dispatchEvent(new Event("potluck:refresh", { bubbles: true }));
  }
  // Without live updates, the page has to ask.
  else if (went.how === "done" && document.querySelector("[data-live-badge].off"))
    list.dispatchEvent(new Event("potluck:refresh", { bubbles: true }));
  drawAll();
}

list.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-tick]");
  if (!form) return;
  event.preventDefault();
  const row = form.closest("li");
  const tick = ticks.get(row.id) ?? { address: form.action };
  tick.wanted = !isDone(row);
  ticks.set(row.id, tick);
  drawAll();
  push(row.id);
});

const failed = () => [...ticks].filter(([, tick]) => tick.failed && !tick.sending);

waits({
  count: () => failed().length,
  words: (number) => (number === 1 ? "One tick is not sent yet." : `${number} ticks are not sent yet.`),
  again: () => failed().forEach(([id]) => push(id)),
});

// --- changes by others ---

new MutationObserver((changes) => {
  const rows = (nodes) => [...nodes].filter((node) => node.nodeType === Node.ELEMENT_NODE);
  const gone = new Map(changes.flatMap(({ removedNodes }) => rows(removedNodes)).map((row) => [row.id, row]));
  for (const row of changes.flatMap(({ addedNodes }) => rows(addedNodes))) {
    const before = gone.get(row.id);
    if (before && button(before) && !isDone(before) && isDone(row) && !ticks.has(row.id))
      toast(`Somebody ticked ${nameOf(row)}.`);
    // Only changes by others are highlighted.
    const own = mine.get(row.id) ?? ticks.get(row.id)?.wanted;
    if (before && own === isDone(row)) row.classList.remove("changed");
    mine.delete(row.id);
  }
  drawAll();
}).observe(list, { childList: true });
drawAll();
