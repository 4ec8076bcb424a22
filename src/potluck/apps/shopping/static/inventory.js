// The inventory: every tap on a stepper counts, once. It is shown at once, stored, and sent as soon as the server can be
// reached; changes still pending when the page is left are sent from the list. Without this script the forms do it by
// themselves. Events are handled before the store has been read: that can take a device seconds, and taps wait for it.

import { UNDER_WAY, bannerOf, putBanner } from "./banner.js";
import { steps } from "./changes.js";
import { element, set, toast } from "./elements.js";
import * as keeping from "./keeping.js";
import { NoSignal, PATIENCE, asked, newId, over, sender } from "./sending.js";

const MOST = 100_000;
// How long, in milliseconds, nothing must have been tapped before anything on the page moves, so that somebody who goes on
// tapping finds it where it was.
const QUIET = 1500;
// How long, in milliseconds, after a finger is lifted it may still become a click.
const RELEASED = 500;
// Between two attempts, in milliseconds.
const FIRST_TRY = 1500;
const LAST_TRY = 15_000;

const root = document.getElementById("inventory");
const { home, family } = root.dataset;
const person = JSON.parse(root.dataset.person);
const api = `/api/v1/families/${family}`;
const part = (name) => root.querySelector(`[data-${name}]`);
const channel = "BroadcastChannel" in window ? new BroadcastChannel("potluck-shopping") : null;

// The quantity of each thing and its version, as last received from the server.
const known = new Map();
// Taps that are not stored yet: by how much each quantity changes.
const touches = new Map();
// Stored changes, as last read; the server's answers to some of them, and those that no longer count.
let changes = [];
const answers = [];
const answered = new Set();
let notices = [];
// ok, no-signal, later, signed-out or not-yours
let state = "ok";

// --- rendering ---

const rows = (within = root) => [...within.querySelectorAll("[data-stock]")];

function learn({ itemId, quantity, version }) {
  if (!known.has(itemId) || known.get(itemId).version <= version) known.set(itemId, { quantity, version });
}

function learnFrom(within) {
  for (const row of rows(within)) {
    const { stock: itemId, version } = row.dataset;
    learn({ itemId, quantity: Number(row.querySelector("output").textContent), version: Number(version) });
  }
}

const shown = (id) =>
  Math.min(MOST, Math.max(0, known.get(id).quantity + steps(changes, id) + (touches.get(id) ?? 0)));

// aria-disabled, not disabled: disabling the button that has the focus would lose the focus.
function offer(button, can) {
  if (can) button.removeAttribute("aria-disabled");
  else button.setAttribute("aria-disabled", "true");
}

function draw() {
  for (const row of rows()) {
    const id = row.dataset.stock;
    const number = shown(id);
    row.dataset.version = known.get(id).version;
    set(row.querySelector("output"), String(number));
    const [less, more] = row.querySelectorAll(".stepper button");
    offer(less, number > 0);
    offer(more, number < MOST);
  }
  root.dataset.waiting = changes.length + touches.size;
  clearTimeout(saying);
  const quiet = held ? QUIET : lastTouch + QUIET - Date.now();
  if (quiet > 0) saying = setTimeout(draw, quiet);
  else say();
}

let saying = 0;
let lastTouch = 0;
// Whether a finger or a key is down.
let held = false;

// Renders what is above the things, which moves them.
function say() {
  const link = changes.length ? element("a", { href: home }, "To the list") : null;
  putBanner(part("banner"), bannerOf(state, changes, "inventory", link));
  drawNotices();
}

function drawNotices() {
  const place = part("notices");
  const told = notices.map((each) => each.number).join();
  if (place.dataset.told === told) return;
  place.dataset.told = told;
  place.replaceChildren(
    ...notices.map(({ number, name, message }) => {
      const id = `notice-${number}`;
      const seen = () => {
        document.getElementById("main").focus({ preventScroll: true });
        inTurn(() => keeping.dropNotice(number).then(() => read()));
      };
      return element(
        "section",
        { class: "clash", "aria-labelledby": id },
        element("h2", { id }, `${name} could not be changed`),
        element("p", { class: "soft" }, `${message}.`),
        element("div", { class: "actions" }, element("button", { type: "button", class: "quiet", onclick: seen }, "All right")),
      );
    }),
  );
}

// --- storing ---

// Nothing can be stored here, and the forms do everything by themselves.
let without = false;
let turn = Promise.resolve();

// One at a time, so that no tap counts both as stored and as not stored.
function inTurn(work) {
  turn = turn.then(work).catch((error) => console.error(error));
  return turn;
}

// Reads what is stored; `kept` are the taps that it includes by now.
async function read(kept = []) {
  const all = await keeping.waitingChanges(family);
  const said = (await keeping.notices(family)).filter((each) => each.kind === "refused");
  for (const { item, change } of answers.splice(0)) {
    learn(item);
    answered.add(change.seq);
  }
  changes = all.filter((each) => !answered.has(each.seq));
  for (const [id, by] of kept) {
    const left = touches.get(id) - by;
    if (left) touches.set(id, left);
    else touches.delete(id);
  }
  const refused = said.length > notices.length;
  notices = said;
  draw();
  // Show the current state, not the state before the refused change.
  if (refused) refreshSoon();
}

async function keep() {
  const taken = [...touches];
  for (const [id, by] of taken) {
    if (by === 0) continue;
    const name = document.querySelector(`[data-stock="${id}"] .row-name`)?.textContent ?? "It";
    const change = { family, person: person.id, kind: "adjust", id, key: newId(), seen: null, sent: false, at: Date.now() };
    try {
      await keeping.addChange({ ...change, was: null, values: { by }, before: {}, shown: { name } });
    } catch (error) {
      // If somebody else is signed in by now, show their page.
      if (error instanceof keeping.SomebodyElse) location.reload();
      else if (error instanceof keeping.NotOpened && !("ready" in root.dataset)) return;
      else toast("There is no room left on this device to keep that. Nothing is changed.");
    }
  }
  await read(taken);
  if (!taken.length) return;
  channel?.postMessage("changed");
  for (const time of [1, 2]) setTimeout(draw, time * UNDER_WAY + 50);
  deliver();
}

function step(id, by) {
  const wanted = shown(id) + by;
  if (wanted < 0 || wanted > MOST) return;
  touches.set(id, (touches.get(id) ?? 0) + by);
  lastTouch = Date.now();
  clearTimeout(refreshing);
  draw();
  inTurn(keep);
}

// --- sending ---

const send = sender({
  api,
  family,
  told(event, item, change) {
    if (event === "adjusted") answers.push({ item, change });
    else if (event !== "sent") return;
    else channel?.postMessage("changed");
    inTurn(() => read());
  },
});

let trying = 0;
let pause = FIRST_TRY;

function soon() {
  clearTimeout(trying);
  trying = setTimeout(deliver, pause);
  pause = Math.min(LAST_TRY, pause * 1.6);
}

async function deliver() {
  clearTimeout(trying);
  const outcome = await send();
  if (outcome === "done") {
    state = "ok";
    pause = FIRST_TRY;
  } else if (outcome !== "nothing") state = outcome;
  await inTurn(() => read());
  if (over(outcome)) refreshSoon();
  else if (outcome === "no-signal" || outcome === "later") soon();
}

// --- refreshing from the server ---

let refreshing = 0;

function refreshSoon(after = QUIET) {
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, after);
}

const busy = () => changes.length > 0 || touches.size > 0;

// Replaces and moves rows that have changed; the others stay as they are, with whatever is in progress there.
async function refresh() {
  if (busy() || state === "signed-out" || state === "not-yours") return;
  const options = { headers: { accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
  const answer = await fetch(`${home}/inventory`, options).catch(() => null);
  const text = await answer?.text().catch(() => null);
  const page = answer?.ok && text && new DOMParser().parseFromString(text, "text/html");
  const fresh = page?.getElementById?.("at-home");
  if (!fresh || page.getElementById("inventory").dataset.person !== root.dataset.person) {
    if (state !== "ok") soon();
    return;
  }
  if (state !== "ok") {
    state = "ok";
    draw();
  }
  // A tap meanwhile is sent first, and then the page is read again.
  if (busy()) return;
  // A button that is held down must not be replaced.
  if (held) {
    refreshSoon();
    return;
  }
  const there = document.getElementById("at-home");
  const open = there.querySelector("details")?.open;
  if (open) fresh.querySelector("details")?.setAttribute("open", "");
  learnFrom(fresh);
  draw();
  if (there.isEqualNode(fresh)) return;
  const focused = there.contains(document.activeElement) ? document.activeElement : null;
  const byKey = focused?.matches(":focus-visible");
  const row = focused?.closest("[data-stock]")?.id;
  for (const each of rows(fresh)) {
    const old = document.getElementById(each.id);
    if (old?.isEqualNode(each)) each.replaceWith(old);
  }
  there.replaceWith(fresh);
  draw();
  if (!focused || document.activeElement === focused) return;
  const again = (focused.id && document.getElementById(focused.id)) || (row && document.querySelector(`#${row} a`));
  // Keyboard users have to see where the focus is; others keep their scroll position.
  if (again) again.focus({ preventScroll: !byKey });
}

// --- adding to the list ---

// Additions in flight, each with its idempotency key.
const goingOn = new Map();

async function putOnList(form) {
  const row = form.closest("[data-stock]");
  const itemId = row.dataset.stock;
  const name = row.querySelector(".row-name").textContent;
  if (form.dataset.underWay) return;
  form.dataset.underWay = "yes";
  if (!goingOn.has(itemId)) goingOn.set(itemId, newId());
  try {
    const answer = await asked(`${api}/shopping-list`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": goingOn.get(itemId) },
      body: JSON.stringify({ itemId }),
    });
    goingOn.delete(itemId);
    if (answer.ok) {
      const sign = document.getElementById("on-list").content.firstElementChild.cloneNode(true);
      sign.querySelector("svg").setAttribute("aria-label", `On the list: ${name}`);
      const had = form.contains(document.activeElement);
      // It may have been rendered again meanwhile.
      document.querySelector(`#${row.id} form.to-list`)?.replaceWith(sign);
      if (had) document.querySelector(`#${row.id} a`).focus({ preventScroll: true });
      toast(`${name} is on the list.`);
      refreshSoon();
    } else if (answer.type.endsWith("/duplicate-item")) document.querySelector(`#${row.id} form.to-list`)?.submit();
    else toast(`${answer.body?.detail ?? "That did not work"}.`.replace("..", "."));
  } catch (error) {
    if (!(error instanceof NoSignal)) throw error;
    toast("That needs signal. Try again when it is back.");
  } finally {
    delete form.dataset.underWay;
  }
}

// --- start ---

function onSubmit(event) {
  const act = event.target.dataset.do;
  if (without || (act !== "step" && act !== "list")) return;
  event.preventDefault();
  if (act === "list") putOnList(event.target);
  else step(event.target.closest("[data-stock]").dataset.stock, Number(event.submitter.value));
}

function listen() {
  document.addEventListener("submit", onSubmit);
  let release = 0;
  const hold = (down) => {
    clearTimeout(release);
    if (down) held = true;
    else release = setTimeout(() => (held = false), RELEASED);
  };
  for (const down of ["pointerdown", "keydown"]) addEventListener(down, () => hold(true), true);
  for (const up of ["pointerup", "pointercancel", "keyup", "blur"]) addEventListener(up, () => hold(false), true);
}

function listenToSignal() {
  channel?.addEventListener("message", () => inTurn(() => read()).then(() => refreshSoon()));
  addEventListener("online", () => {
    pause = FIRST_TRY;
    deliver();
  });
  addEventListener("offline", () => {
    state = "no-signal";
    draw();
  });
  document.addEventListener("visibilitychange", () => !document.hidden && deliver());
  addEventListener("pageshow", (event) => event.persisted && deliver());
}

async function begin() {
  learnFrom(root);
  listen();
  await keeping.belongsTo(person);
  listenToSignal();
  if (!navigator.onLine) state = "no-signal";
  await inTurn(() => read());
  root.dataset.ready = "";
  if (changes.length) deliver();
}

// Sends taps that could not be stored directly, and shows the result as the page does without this script.
async function doWithout(error) {
  console.warn("The inventory does without its script:", error);
  without = true;
  const taken = [...touches].filter(([, by]) => by !== 0);
  if (!taken.length) return;
  for (const [id, by] of taken)
    await asked(`${api}/inventory/${id}/adjust`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": newId() },
      body: JSON.stringify({ by }),
    }).catch(() => {});
  location.reload();
}

begin().catch(doWithout);
