// The inventory: every tap on a stepper counts, once. It is shown at once, stored, and sent as soon as the server can be
// reached; changes still pending when the page is left are sent from the list. Without this script the forms do it by
// themselves. Events are handled before the store has been read: that can take a device seconds, and taps wait for it.

import { all, element, enable, maybe, one, setText, stamp } from "../../../web/static/js/kit/elements.js";
import { onReturn } from "../../../web/static/js/kit/events.js";
import { isOver } from "../../../web/static/js/kit/outbox.js";
import { OtherPerson } from "../../../web/static/js/kit/outbox-store.js";
import { fetchPage, swap } from "../../../web/static/js/kit/page-parts.js";
import { afterPress } from "../../../web/static/js/kit/press-guard.js";
import { newId, send } from "../../../web/static/js/kit/send.js";
import { NotOpened } from "../../../web/static/js/kit/store.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { retries } from "../../../web/static/js/kit/turns.js";
import { _, numbered } from "../../../web/static/js/kit/words.js";
import { bannerOf, putBanner, UNDER_WAY } from "./banner.js";
import { steps } from "./changes.js";
import { button, noticeBox, sentence } from "./elements.js";
import * as store from "./offline-store.js";
import { outbox } from "./outbox.js";

/** @typedef {import("./changes.js").Change} Change */

const MOST = 100_000;
// How long, in milliseconds, nothing must have been tapped before anything on the page moves, so that a person who goes on
// tapping finds it where it was.
const QUIET = 1500;

const root = one(document, "#inventory");
const { home = "", family = "" } = root.dataset;
const person = JSON.parse(root.dataset.person ?? "");
const api = `/api/v1/families/${family}`;
/** @param {string} name */
const part = (name) => one(root, `[data-${name}]`);
const channel = "BroadcastChannel" in window ? new BroadcastChannel("potluck-shopping") : null;

// The quantity of each thing and its version, as last received from the server.
/** @type {Map<string, { quantity: number, version: number }>} */
const known = new Map();
/** Taps that are not stored yet: by how much each quantity changes. @type {Map<string, number>} */
const touches = new Map();
/** Stored changes, as last read. @type {Change[]} */
let changes = [];
/** The server's answers to some of them. @type {{ item: any, change: Change }[]} */
const answers = [];
/** Those that no longer count. @type {Set<number>} */
const answered = new Set();
/** @type {any[]} */
let notices = [];
/** @type {import("./outbox.js").Outcome | "ok"} */
let state = "ok";

// --- rendering ---

/** @param {ParentNode} within */
const rowsIn = (within) => all(within, "[data-stock]");
/** @param {HTMLElement} row */
const stockOf = (row) => row.dataset.stock ?? "";

/** @param {{ itemId: string, quantity: number, version: number }} item */
function learn({ itemId, quantity, version }) {
  if ((known.get(itemId)?.version ?? 0) <= version) known.set(itemId, { quantity, version });
}

/** @param {ParentNode} within */
function learnFrom(within) {
  for (const row of rowsIn(within)) {
    learn({ itemId: stockOf(row), quantity: Number(row.dataset.quantity), version: Number(row.dataset.version) });
  }
}

/** @param {string} id */
const shown = (id) =>
  Math.min(MOST, Math.max(0, (known.get(id)?.quantity ?? 0) + steps(changes, id) + (touches.get(id) ?? 0)));

let saying = 0;
let lastTouch = 0;

function draw() {
  for (const row of rowsIn(root)) {
    const id = stockOf(row);
    const number = shown(id);
    row.dataset.version = String(known.get(id)?.version);
    setText(one(row, "output"), numbered(number));
    const [less, more] = all(row, ".stepper button");
    enable(less, number > 0);
    enable(more, number < MOST);
  }
  root.dataset.waiting = String(changes.length + touches.size);
  clearTimeout(saying);
  const quiet = lastTouch + QUIET - Date.now();
  if (quiet > 0) saying = setTimeout(draw, quiet);
  else afterPress(say);
}

// Renders what is above the things, which moves them.
function say() {
  const link = changes.length ? element("a", { href: home }, _("Open shopping list")) : null;
  putBanner(part("banner"), bannerOf(state, changes, link));
  const place = part("notices");
  const drawn = notices.map(({ number }) => number).join();
  if (place.dataset.drawn === drawn) return;
  place.dataset.drawn = drawn;
  place.replaceChildren(
    ...notices.map(({ number, name, message }) => {
      const seen = () => {
        one(document, "#main").focus({ preventScroll: true });
        inTurn(() => store.dropNotice(number).then(() => read()));
      };
      const actions = element("div", { class: "actions" }, button("quiet", _("OK"), seen));
      const title = _("%(name)s couldn’t be changed", { name });
      return noticeBox(number, title, element("p", { class: "soft" }, sentence(message)), actions);
    }),
  );
}

// --- storing ---

// Nothing can be stored here, and the forms do everything by themselves.
let isWithout = false;
/** @type {Promise<unknown>} */
let turn = Promise.resolve();

/** One at a time, so that no tap counts both as stored and as not stored. @param {() => Promise<unknown>} work */
function inTurn(work) {
  turn = turn.then(work).catch((error) => console.error(error));
  return turn;
}

/** Reads what is stored; `stored` are the taps that it includes by now. @param {[string, number][]} [stored] */
async function read(stored = []) {
  const waiting = await store.waitingChanges(family);
  const refusals = (await store.notices(family)).filter(({ kind }) => kind === "refused");
  for (const { item, change } of answers.splice(0)) {
    learn(item);
    answered.add(change.seq);
  }
  changes = waiting.filter(({ seq }) => !answered.has(seq));
  for (const [id, by] of stored) {
    const left = (touches.get(id) ?? 0) - by;
    if (left) touches.set(id, left);
    else touches.delete(id);
  }
  const isRefused = refusals.length > notices.length;
  notices = refusals;
  draw();
  // Show the current state, not the state before the refused change.
  if (isRefused) refreshSoon();
}

async function storeTouches() {
  const taken = [...touches];
  for (const [id, by] of taken) {
    if (by === 0) continue;
    const name = maybe(document, `[data-stock="${id}"] .row-name`)?.textContent ?? _("This item");
    const change = {
      place: family,
      person: person.id,
      kind: "adjust",
      id,
      key: newId(),
      seen: null,
      sent: false,
      at: Date.now(),
    };
    const adjustment = { ...change, was: null, values: { by }, before: {}, shown: { name } };
    try {
      await store.addChange(/** @type {Change} */ (/** @type {unknown} */ (adjustment)));
    } catch (error) {
      // If another person is signed in by now, show their page.
      if (error instanceof OtherPerson) location.reload();
      else if (error instanceof NotOpened && !("ready" in root.dataset)) return;
      else toast(_("This device is out of storage space. Nothing was changed."));
    }
  }
  await read(taken);
  if (!taken.length) return;
  channel?.postMessage("changed");
  for (const time of [1, 2]) setTimeout(draw, time * UNDER_WAY + 50);
  deliver();
}

/** @param {string} id @param {number} by */
function step(id, by) {
  const wanted = shown(id) + by;
  if (wanted < 0 || wanted > MOST) return;
  touches.set(id, (touches.get(id) ?? 0) + by);
  lastTouch = Date.now();
  clearTimeout(refreshing);
  draw();
  inTurn(storeTouches);
}

// --- sending ---

const sendChanges = outbox({
  api,
  family,
  onEvent(event, item, change) {
    if (event === "adjusted" && change) answers.push({ item, change });
    else if (event !== "sent") return;
    else channel?.postMessage("changed");
    inTurn(() => read());
  },
});

const attempts = retries(deliver);

async function deliver() {
  attempts.cancel();
  const outcome = await sendChanges();
  if (outcome === "done") {
    state = "ok";
    attempts.reset();
  } else if (outcome !== "nothing") state = outcome;
  await inTurn(() => read());
  if (isOver(outcome)) refreshSoon();
  else if (outcome === "no-signal" || outcome === "later") attempts.soon();
}

// --- refreshing from the server ---

let refreshing = 0;

function refreshSoon() {
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, QUIET);
}

const isBusy = () => changes.length > 0 || touches.size > 0;

// Replaces and moves rows that have changed; the others stay as they are, with whatever is in progress there.
async function refresh() {
  if (isBusy() || state === "signed-out" || state === "not-yours") return;
  const answer = await fetchPage(`${home}/inventory`);
  const fresh = answer?.ok ? answer.page.getElementById("at-home") : null;
  if (!fresh || answer?.page.getElementById("inventory")?.dataset.person !== root.dataset.person) {
    if (state !== "ok") attempts.soon();
    return;
  }
  state = "ok";
  draw();
  afterPress(() => {
    // A tap meanwhile is sent first, and then the page is read again.
    if (isBusy()) return;
    learnFrom(fresh);
    draw();
    swap(one(document, "#at-home"), fresh);
    draw();
  });
}

// --- adding to the list ---

/** The idempotency keys of additions that may be in flight, by item. @type {Map<string, string>} */
const additions = new Map();

/** @param {HTMLElement} row */
async function putOnList(row) {
  const itemId = stockOf(row);
  const name = one(row, ".row-name").textContent;
  if (row.dataset.underWay) return;
  row.dataset.underWay = "yes";
  const key = additions.get(itemId) ?? newId();
  additions.set(itemId, key);
  const answer = await send(`${api}/shopping-list`, { json: { itemId }, key });
  delete row.dataset.underWay;
  // The page may have been rendered again meanwhile.
  const form = maybe(document, `#${row.id} form.to-list`, HTMLFormElement);
  if (answer.outcome === "no-signal") {
    toast(_("You’re offline. Try again when you’re back online."));
    return;
  }
  additions.delete(itemId);
  if (answer.outcome === "done") {
    const sign = stamp("on-list");
    one(sign, "svg", SVGElement).setAttribute("aria-label", _("%(name)s is on the list", { name }));
    const isFocused = form?.contains(document.activeElement);
    form?.replaceWith(sign);
    if (isFocused) one(document, `#${row.id} a`).focus({ preventScroll: true });
    toast(_("%(name)s added to the list", { name }));
    refreshSoon();
  } else if (answer.type.endsWith("/duplicate-item")) form?.submit();
  else toast(sentence(answer.message));
}

// --- start ---

/** @param {SubmitEvent} event */
function onSubmit(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const act = form.dataset.do;
  if (isWithout || (act !== "step" && act !== "list")) return;
  event.preventDefault();
  const row = /** @type {HTMLElement} */ (form.closest("[data-stock]"));
  if (act === "list") putOnList(row);
  else step(stockOf(row), Number(/** @type {HTMLButtonElement} */ (event.submitter).value));
}

function listenToSignal() {
  channel?.addEventListener("message", () => inTurn(() => read()).then(refreshSoon));
  addEventListener("online", () => {
    attempts.reset();
    deliver();
  });
  addEventListener("offline", () => {
    state = "no-signal";
    draw();
  });
  document.addEventListener("visibilitychange", () => !document.hidden && deliver());
  onReturn(deliver);
}

async function begin() {
  learnFrom(root);
  document.addEventListener("submit", onSubmit);
  await store.belongsTo(person);
  listenToSignal();
  if (!navigator.onLine) state = "no-signal";
  await inTurn(() => read());
  root.dataset.ready = "";
  if (changes.length) deliver();
}

// Sends taps that could not be stored directly, and shows the result as the page does without this script.
/** @param {unknown} error */
async function doWithout(error) {
  console.warn("The inventory does without its script:", error);
  isWithout = true;
  const taken = [...touches].filter(([, by]) => by !== 0);
  for (const [id, by] of taken) await send(`${api}/inventory/${id}/adjust`, { json: { by }, key: newId() });
  if (taken.length) location.reload();
}

begin().catch(doWithout);
