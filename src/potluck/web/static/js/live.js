// Lists that are updated live. htmx's extension hx-sse reads the stream; this script puts its rows into their places.
//
//   <ul id="notes" data-live="/notes/7/events?since=POSITION">
//     <li id="note-3" data-version="2" data-order="…"> … </li>
//   </ul>
//
// An event is named created, updated or deleted, and its data is the whole row, rendered by the same template as the page.
// A row is identified by its id: it replaces the row that is shown, and never appears twice, however often it is sent.
// A row with an older data-version than the one shown is ignored. New rows are sorted by data-order, compared as text
// (descending with data-live-order="descending"); without it they go last. Rows of a response that htmx would swap into such
// a list are placed in the same way, and the form that the response belongs to is reset, unless something else was typed
// there meanwhile.
//
// A list that is one part of a longer one gives its range of data-order in data-live-from and data-live-to: rows before or
// after that belong to another part.
//
// If rows depend on each other, the list has data-live-whole: its page is fetched again on every event, and rows that differ
// in a data- attribute are replaced. data-live-page is the URL to fetch then, if it is not the page's own.
//
// A page may also have, for a list with the id "notes":
//   data-live-badge="notes"   says "Live", or the text in data-live-said; otherwise "Last fresh at 17:42"
//   data-live-count="notes"   has the number of rows
//   data-live-empty="notes"   is shown while there are none
//   data-live-with="notes"    has an id, and is updated whenever the page is fetched again
//
// After a reset, or if no stream can be opened, the page is fetched again and the list is updated from it; a script requests
// that with the event potluck:refresh on the list. An event of any other name is passed on to scripts, as potluck:heard with
// its name and data. When the stream has ended for good, because the viewer has lost access, potluck:over is dispatched. Of
// two rows with the same version, the one that just arrived counts as a change if its data- attributes differ.

/* global htmx */

const LISTS = "[data-live]";
const TYPING = "input:not([type=checkbox], [type=radio], [type=hidden]), textarea";
// Final errors: not signed in, no access, not found, gone.
const OVER = new Set([401, 403, 404, 410]);
const ROW_EVENTS = new Set(["created", "updated", "deleted"]);
const GONE_KEPT = 500;
// How long, in milliseconds, to wait for a connection attempt before trying again.
const PATIENCE = 20_000;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
// For each list: its connection and status, rows that wait while somebody types in the current ones, and deleted rows.
const states = new WeakMap();

function stateOf(list) {
  if (!states.has(list))
    states.set(list, {
      begun: false,
      connection: null,
      live: false,
      over: false,
      fresh: new Date(),
      tried: Date.now(),
      waiting: new Map(),
      gone: new Set(),
      reading: null,
      readMore: null,
    });
  return states.get(list);
}

// --- elements that belong to a list ---

function around(list, name) {
  return document.querySelectorAll(`[data-live-${name}="${CSS.escape(list.id)}"]`);
}

function tell(list, live) {
  const state = stateOf(list);
  if (live || state.live) state.fresh = new Date();
  state.live = live;
  label(list);
}

// Also sets badges that were just inserted, with a row or beside the list.
function label(list) {
  const { live, fresh } = stateOf(list);
  for (const badge of around(list, "badge")) {
    const said = live ? (badge.dataset.liveSaid ?? "Live") : `Last fresh at ${clock.format(fresh)}`;
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

function isElsewhere(list, row) {
  const { liveFrom = "", liveTo } = list.dataset;
  const { order = "" } = row.dataset;
  return order < liveFrom || (liveTo !== undefined && order > liveTo);
}

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

// The element of the new row that corresponds to the focused one in the old row.
function sameIn(row, old, focused) {
  if (focused.id) return row.querySelector(`#${CSS.escape(focused.id)}`);
  const kinds = "a[href], button, input, textarea, select, summary";
  return row.querySelectorAll(kinds)[[...old.querySelectorAll(kinds)].indexOf(focused)];
}

const isNews = (row, shown) =>
  !shown ||
  versionOf(shown) < versionOf(row) ||
  (versionOf(shown) === versionOf(row) && Object.entries(row.dataset).some(([name, said]) => shown.dataset[name] !== said));

function put(list, row, told) {
  const state = stateOf(list);
  const old = list.querySelector(`:scope > #${CSS.escape(row.id)}`);
  // The response to this window's own request can arrive after the event that deleted the row.
  if (!told && state.gone.has(row.id)) return;
  if (told) state.gone.delete(row.id);
  if (isElsewhere(list, row)) {
    old?.remove();
    count(list);
    return;
  }
  if (!old) {
    place(list, row);
  } else {
    if (versionOf(row) < versionOf(old)) return;
    // A row that is shown already, such as one that this window sent itself, is not replaced.
    if (told && !isNews(row, old)) return;
    const focused = old.contains(document.activeElement) ? document.activeElement : null;
    if (told && focused?.matches(TYPING)) {
      // Never replace a field while somebody types in it; the change waits until they are done.
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
  label(list);
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
  // If the focus left because a button in the same row was pressed, that button is submitted first.
  setTimeout(() => {
    const { waiting } = stateOf(list);
    const news = waiting.get(row.id);
    // Unsent text stays; once it is sent, the server reports the conflict and both versions are shown.
    if (!news || (row.isConnected && [...row.querySelectorAll(TYPING)].some((each) => each.value !== each.defaultValue)))
      return;
    waiting.delete(row.id);
    const shown = list.querySelector(`:scope > #${CSS.escape(row.id)}`);
    if (shown && versionOf(shown) < versionOf(news)) put(list, news, true);
  });
});

// --- the stream ---

// Elements beside a list that were not updated because somebody was editing them.
const behind = new WeakSet();

// Updates the elements beside the list; those that somebody is editing are updated once they have left them.
function follow(list, page) {
  for (const old of around(list, "with")) {
    const fresh = page.getElementById(old.id);
    if (!fresh || old.isEqualNode(fresh)) continue;
    const typed = [...old.querySelectorAll(TYPING)].some((each) => each.value !== each.defaultValue);
    if (typed || old.contains(document.activeElement)) behind.add(old);
    else old.replaceWith(document.adoptNode(fresh));
  }
}

document.addEventListener("focusout", ({ target, relatedTarget }) => {
  const beside = target.closest?.("[data-live-with]");
  if (!behind.has(beside) || beside.contains(relatedTarget)) return;
  const list = document.getElementById(beside.dataset.liveWith);
  if (list) setTimeout(() => readAgain(list));
});

// One at a time: if several resets arrive while the page is fetched, one more fetch is enough.
function readAgain(list) {
  const state = stateOf(list);
  if (state.reading) {
    state.readMore ??= state.reading.then(() => {
      state.readMore = null;
      return readAgain(list);
    });
    return state.readMore;
  }
  state.reading = readNow(list).finally(() => (state.reading = null));
  return state.reading;
}

// Fetches the page and adds, replaces and removes rows accordingly; resolves to the URL of its stream, or null.
async function readNow(list) {
  const answer = await fetch(list.dataset.livePage ?? location.href, {
    headers: { accept: "text/html" },
    signal: AbortSignal.timeout(PATIENCE),
  }).catch(() => null);
  if (!answer?.ok) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(list.id);
  if (!fresh) return null;
  const state = stateOf(list);
  const rows = [...fresh.children];
  for (const row of list.querySelectorAll(":scope > [id]"))
    if (!rows.some((each) => each.id === row.id)) take(list, row);
  for (const row of rows) {
    const shown = list.querySelector(`:scope > #${CSS.escape(row.id)}`);
    if (isNews(row, shown)) put(list, document.adoptNode(row), true);
  }
  follow(list, page);
  // The list is up to date now, even without a stream.
  state.fresh = new Date();
  label(list);
  return fresh.dataset.live;
}

// For a stream that never opened, or that hangs: reads the list again, and opens a new stream from there.
async function beginAgain(list) {
  const state = stateOf(list);
  state.tried = Date.now();
  const address = await readAgain(list);
  if (!address || !list.isConnected) return;
  state.connection?.abortController?.abort();
  state.connection = null;
  setTimeout(() => connect(list, address));
}

// Not by hx-sse:connect, because htmx may process the page before its extension is loaded, and would not do so again.
function connect(list, address) {
  htmx.ajax("GET", address, { source: list });
}

const heard = (name, hear) =>
  document.addEventListener(name, (event) => {
    const list = event.target.closest?.(LISTS);
    if (list) hear(list, stateOf(list), event);
  });

heard("potluck:refresh", (list) => readAgain(list));

heard("htmx:sse:before:connection", (list, state, event) => {
  state.connection = event.detail.connection;
  state.tried = Date.now();
  if (state.over) event.preventDefault();
  // Before the first connection there was none to lose.
  if (state.connection.attempt > 0) tell(list, false);
});

heard("htmx:sse:after:connection", (list) => tell(list, true));

heard("htmx:sse:error", (list, state, event) => {
  tell(list, false);
  state.over = OVER.has(event.detail.status);
  if (!state.over) return;
  sayOver();
  list.dispatchEvent(new Event("potluck:over", { bubbles: true }));
});

heard("htmx:sse:close", (list) => tell(list, false));

heard("htmx:sse:before:message", (list, state, event) => {
  event.preventDefault();
  const { event: name, data } = event.detail.message;
  // The stream continues from now; reading the list again covers what came before.
  if (name === "reset" || (ROW_EVENTS.has(name) && list.dataset.liveWhole !== undefined)) readAgain(list);
  else if (!ROW_EVENTS.has(name))
    list.dispatchEvent(new CustomEvent("potluck:heard", { bubbles: true, detail: { name, data } }));
  else for (const row of rowsIn(data)) name === "deleted" ? take(list, row) : put(list, row, true);
  tell(list, true);
});

// Responses to forms and buttons of this window.
document.addEventListener("htmx:before:swap", (event) => {
  const { ctx } = event.detail;
  const target = typeof ctx.target === "string" ? document.querySelector(ctx.target) : ctx.target;
  if (!target?.matches?.(LISTS) || !ctx.response?.raw?.ok) return;
  event.preventDefault();
  for (const row of rowsIn(ctx.text)) put(target, row, false);
  const form = ctx.sourceElement;
  if (!(form instanceof HTMLFormElement)) return;
  const sent = ([name, value]) => ctx.request.body.getAll(name).includes(value);
  if ([...new FormData(form)].every(sent)) form.reset();
});

// --- start ---

function beginIn(within) {
  for (const list of within.querySelectorAll(LISTS)) {
    if (stateOf(list).begun) continue;
    stateOf(list).begun = true;
    connect(list, list.dataset.live);
  }
}

// By then every script of the page has run.
if (document.readyState === "complete") beginIn(document);
else addEventListener("DOMContentLoaded", () => beginIn(document));
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) beginIn(node.parentNode ?? node);
}).observe(document.body, { childList: true, subtree: true });

// --- signal, and closing ---

const lists = () => [...document.querySelectorAll(LISTS)].map((list) => [list, stateOf(list)]);

// A stream that has lost its network can look open for minutes, so it is reopened from its position.
addEventListener("online", () => {
  for (const [list, state] of lists()) {
    if (state.over) continue;
    if (state.connection?.delayCanceller) state.connection.delayCanceller();
    else if (state.connection?.reader) state.connection.reader.cancel();
    else beginAgain(list);
  }
});

addEventListener("offline", () => {
  for (const [list] of lists()) tell(list, false);
});

setInterval(() => {
  if (!navigator.onLine || document.hidden) return;
  for (const [list, state] of lists())
    if (!state.live && !state.over && Date.now() - state.tried > PATIENCE) beginAgain(list);
}, PATIENCE / 2);

function sayOver() {
  const region = document.getElementById("banners");
  const ready = document.getElementById("not-yours");
  if (region && ready && !region.querySelector("[data-not-yours]")) region.append(ready.content.cloneNode(true));
}
