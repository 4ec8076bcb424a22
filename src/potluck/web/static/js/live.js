// Lists that change while one looks. The stream is htmx's (hx-sse:connect); here its rows find their places.
//
//   <ul id="notes" data-live hx-sse:connect="/notes/7/events?since=POSITION" hx-swap="none">
//     <li id="note-3" data-version="2" data-order="…"> … </li>
//   </ul>
//
// An event is named created, updated or deleted, and its data is the whole row, from the template that the page used.
// A row is known by its id: it takes the place of the one that is there, and is never there twice, however often it is
// told. A row with an older data-version than the one that is shown is left alone. New rows stand by data-order,
// compared as text (from the greatest on with data-live-order="descending"); without it, last. An answer that htmx
// would swap into such a list finds its rows' places in the same way, and empties the form that it came from.
//
// What else a page may have for a list with the id "notes":
//   data-live-badge="notes"   says "Live", or "Last fresh at 17:42"
//   data-live-count="notes"   has the number of rows
//   data-live-empty="notes"   is shown while there are none
//
// After a reset, or when signal is back and there was no stream, the page is fetched again and the list taken from it.

/* global htmx */

const LISTS = "[data-live]";
const TYPING = "input:not([type=checkbox], [type=radio], [type=hidden]), textarea, select";
// Refused for good: nobody, no more, nothing.
const OVER = new Set([401, 403, 404, 410]);
const GONE_KEPT = 500;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
// For each list: its connection, when it was last fresh, rows that wait while somebody types in them, and rows that went.
const states = new WeakMap();

function stateOf(list) {
  if (!states.has(list))
    states.set(list, { connection: null, fresh: new Date(), over: false, waiting: new Map(), gone: new Set() });
  return states.get(list);
}

// --- what stands around a list ---

function around(list, name) {
  return document.querySelectorAll(`[data-live-${name}="${CSS.escape(list.id)}"]`);
}

function tell(list, live) {
  const state = stateOf(list);
  if (live) state.fresh = new Date();
  for (const badge of around(list, "badge")) {
    const said = live ? "Live" : `Last fresh at ${clock.format(state.fresh)}`;
    badge.classList.toggle("off", !live);
    if (badge.textContent !== said) badge.textContent = said;
  }
}

function count(list) {
  const rows = list.children.length;
  for (const number of around(list, "count")) number.textContent = rows;
  for (const empty of around(list, "empty")) empty.hidden = rows > 0;
}

// --- rows and their places ---

const rowsIn = (text) => {
  const holder = document.createElement("template");
  holder.innerHTML = text;
  return [...holder.content.children].filter((row) => row.id);
};

const versionOf = (row) => Number(row.dataset.version ?? 0);

function place(list, row) {
  const order = row.dataset.order;
  const descending = list.dataset.liveOrder === "descending";
  const next =
    order === undefined
      ? null
      : [...list.children].find((other) =>
          descending ? (other.dataset.order ?? "") < order : (other.dataset.order ?? "") > order,
        );
  list.insertBefore(row, next ?? null);
}

// The element of the new row that stands where the focus was in the old one.
function sameIn(row, old, focused) {
  if (focused.id) return row.querySelector(`#${CSS.escape(focused.id)}`);
  const kinds = "a[href], button, input, textarea, select, summary";
  return row.querySelectorAll(kinds)[[...old.querySelectorAll(kinds)].indexOf(focused)];
}

function put(list, row, told) {
  const state = stateOf(list);
  const old = list.querySelector(`:scope > #${CSS.escape(row.id)}`);
  // An answer to this window can come after the news that the row is gone.
  if (!told && state.gone.has(row.id)) return;
  if (told) state.gone.delete(row.id);
  if (!old) {
    place(list, row);
  } else {
    if (versionOf(row) < versionOf(old)) return;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    if (told && focused?.matches(TYPING)) {
      // Nobody's words are taken from under their hands; the change stands by until they are done.
      state.waiting.set(row.id, row);
      return;
    }
    const moved = old.dataset.order !== row.dataset.order;
    old.replaceWith(row);
    if (moved) place(list, row);
    if (focused) sameIn(row, old, focused)?.focus({ preventScroll: true });
  }
  htmx.process(row);
  if (told) row.classList.add("changed");
  count(list);
}

function take(list, row) {
  const state = stateOf(list);
  state.waiting.delete(row.id);
  state.gone.add(row.id);
  if (state.gone.size > GONE_KEPT) state.gone.delete(state.gone.values().next().value);
  list.querySelector(`:scope > #${CSS.escape(row.id)}`)?.remove();
  count(list);
}

document.addEventListener("focusout", (event) => {
  const list = event.target.closest?.(LISTS);
  const row = list && [...list.children].find((each) => each.contains(event.target));
  if (!row || row.contains(event.relatedTarget)) return;
  const waiting = stateOf(list).waiting.get(row.id);
  if (!waiting) return;
  stateOf(list).waiting.delete(row.id);
  // What a press of a button in the same row sends, it sends first.
  setTimeout(() => put(list, waiting, true));
});

// --- the stream ---

async function fetchAgain(list) {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(list.id);
  if (!fresh || !list.isConnected) return;
  list.replaceWith(document.adoptNode(fresh));
  htmx.process(fresh);
  count(fresh);
}

document.addEventListener("htmx:sse:before:connection", (event) => {
  const list = event.target.closest(LISTS);
  if (!list) return;
  const state = stateOf(list);
  state.connection = event.detail.connection;
  if (state.over) event.preventDefault();
  // Before the first connection there was none to lose.
  if (event.detail.connection.attempt > 0) tell(list, false);
});

document.addEventListener("htmx:sse:after:connection", (event) => {
  const list = event.target.closest(LISTS);
  if (list) tell(list, true);
});

document.addEventListener("htmx:sse:error", (event) => {
  const list = event.target.closest(LISTS);
  if (!list) return;
  stateOf(list).over = OVER.has(event.detail.status);
  tell(list, false);
  if (stateOf(list).over) end();
});

document.addEventListener("htmx:sse:before:message", (event) => {
  const list = event.target.closest(LISTS);
  if (!list) return;
  event.preventDefault();
  const { event: name, data } = event.detail.message;
  if (name === "reset") {
    fetchAgain(list);
    return;
  }
  for (const row of rowsIn(data)) (name === "deleted" ? take : (in_, each) => put(in_, each, true))(list, row);
  tell(list, true);
});

// Answers to forms and buttons of this window.
document.addEventListener("htmx:before:swap", (event) => {
  const { ctx } = event.detail;
  const target = typeof ctx.target === "string" ? document.querySelector(ctx.target) : ctx.target;
  if (!target?.matches?.(LISTS) || !ctx.response?.raw?.ok) return;
  event.preventDefault();
  for (const row of rowsIn(ctx.text)) put(target, row, false);
  if (ctx.sourceElement instanceof HTMLFormElement) ctx.sourceElement.reset();
});

// --- signal, and its end ---

// A stream that has lost its network can look open for minutes: it is begun anew, from where it was.
addEventListener("online", () => {
  for (const list of document.querySelectorAll(LISTS)) {
    const { connection, over } = stateOf(list);
    if (over) continue;
    if (connection?.delayCanceller) connection.delayCanceller();
    else if (connection?.reader) connection.reader.cancel();
    else fetchAgain(list);
  }
});

addEventListener("offline", () => {
  for (const list of document.querySelectorAll(LISTS)) tell(list, false);
});

function end() {
  const region = document.getElementById("banners");
  const ready = document.getElementById("not-yours");
  if (region && ready && !region.querySelector("[data-not-yours]")) region.append(ready.content.cloneNode(true));
}

for (const list of document.querySelectorAll(LISTS)) count(list);
