// Lists that change while one looks. The stream is read by htmx's extension hx-sse; here its rows find their places.
//
//   <ul id="notes" data-live="/notes/7/events?since=POSITION">
//     <li id="note-3" data-version="2" data-order="…"> … </li>
//   </ul>
//
// An event is named created, updated or deleted, and its data is the whole row, from the template that the page used.
// A row is known by its id: it takes the place of the one that is there, and is never there twice, however often it is
// told. A row with an older data-version than the one that is shown is left alone. New rows stand by data-order,
// compared as text (from the greatest on with data-live-order="descending"); without it, last. An answer that htmx
// would swap into such a list finds its rows' places in the same way, and empties the form that it came from, unless
// something else was typed there meanwhile.
//
// A list that is one part of a longer one says by data-live-from and data-live-to between which data-orders it stands:
// rows before or after are another part's.
//
// Where what is shown of one thing depends on the others, the list says data-live-whole: its page is read again whenever
// anything is told, and rows that differ in a data- attribute take their places. data-live-page is the address to read
// then, if it is not the page's own.
//
// What else a page may have for a list with the id "notes":
//   data-live-badge="notes"   says "Live", or what it has in data-live-said; else "Last fresh at 17:42"
//   data-live-count="notes"   has the number of rows
//   data-live-empty="notes"   is shown while there are none
//   data-live-with="notes"    has an id, and is brought up to date whenever the page is fetched again
//
// After a reset, or where no stream comes about, the page is fetched again and the list brought up to it; a script asks
// for that with the event potluck:refresh on the list. An event of any other name is handed on to scripts, as
// potluck:heard with its name and data; that nothing will be heard any more, because whoever looks may not, is handed on
// as potluck:over. Of two rows of one version, the one with other data- attributes is the news.

/* global htmx */

const LISTS = "[data-live]";
const TYPING = "input:not([type=checkbox], [type=radio], [type=hidden]), textarea";
// Refused for good: nobody, no more, nothing.
const OVER = new Set([401, 403, 404, 410]);
const ROW_EVENTS = new Set(["created", "updated", "deleted"]);
const GONE_KEPT = 500;
// So long, in milliseconds, nothing is heard of an attempt to connect before another is made.
const PATIENCE = 20_000;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
// For each list: its connection and how that is, rows that wait while somebody types in them, and rows that went.
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

// --- what stands around a list ---

function around(list, name) {
  return document.querySelectorAll(`[data-live-${name}="${CSS.escape(list.id)}"]`);
}

function tell(list, live) {
  const state = stateOf(list);
  if (live || state.live) state.fresh = new Date();
  state.live = live;
  label(list);
}

// Also a badge that has just come, with a row or with what stands beside the list, says how it is now.
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

// The element of the new row that stands where the focus was in the old one.
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
  // An answer to this window can come after the news that the row is gone.
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
    // What is shown already, such as what this window sent itself, keeps its place under the hand.
    if (told && !isNews(row, old)) return;
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
  // What a press of a button in the same row sends, it sends first.
  setTimeout(() => {
    const { waiting } = stateOf(list);
    const news = waiting.get(row.id);
    // What is typed and not sent yet stays; sent, it meets the change and both are shown.
    if (!news || (row.isConnected && [...row.querySelectorAll(TYPING)].some((each) => each.value !== each.defaultValue)))
      return;
    waiting.delete(row.id);
    const shown = list.querySelector(`:scope > #${CSS.escape(row.id)}`);
    if (shown && versionOf(shown) < versionOf(news)) put(list, news, true);
  });
});

// --- the stream ---

// What stands beside a list, and stayed behind because somebody was about to change it.
const behind = new WeakSet();

// What stands beside the list; what somebody is at, once they have left it.
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

// One at a time: of many resets that come while the page is fetched, one more is enough.
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

// The page as it is now: rows that changed, came or went find or leave their places. Where its stream begins.
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
  // Also without a stream, what is shown is as of now.
  state.fresh = new Date();
  label(list);
  return fresh.dataset.live;
}

// A stream that never began, or that hangs: the list is read again, and a new stream begins where it was read.
async function beginAgain(list) {
  const state = stateOf(list);
  state.tried = Date.now();
  const address = await readAgain(list);
  if (!address || !list.isConnected) return;
  state.connection?.abortController?.abort();
  state.connection = null;
  setTimeout(() => connect(list, address));
}

// By hand, and not by hx-sse:connect: htmx may look at the page before its extension is there, and then never again.
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
  // The stream goes on from now; what was before, the list itself tells.
  if (name === "reset" || (ROW_EVENTS.has(name) && list.dataset.liveWhole !== undefined)) readAgain(list);
  else if (!ROW_EVENTS.has(name))
    list.dispatchEvent(new CustomEvent("potluck:heard", { bubbles: true, detail: { name, data } }));
  else for (const row of rowsIn(data)) name === "deleted" ? take(list, row) : put(list, row, true);
  tell(list, true);
});

// Answers to forms and buttons of this window.
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

// --- begin ---

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

// --- signal, and the end of it all ---

const lists = () => [...document.querySelectorAll(LISTS)].map((list) => [list, stateOf(list)]);

// A stream that has lost its network can look open for minutes: it is begun anew, from where it was.
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
