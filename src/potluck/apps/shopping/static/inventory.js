// The inventory: every touch of a stepper counts, once. It is shown at once, kept, and sent as soon as somebody answers;
// what still waits when the page is left is sent from the list. Without this script the forms do it by themselves. It
// listens before it knows what is kept: a device can take seconds to say so, and touches wait for it.

import { UNDER_WAY, bannerOf, putBanner } from "./banner.js";
import { steps } from "./changes.js";
import { element, set, toast } from "./elements.js";
import * as keeping from "./keeping.js";
import { NoSignal, PATIENCE, asked, newId, over, sender } from "./sending.js";

const MOST = 100_000;
// So long, in milliseconds, nothing was touched before anything on the page moves: whoever goes on touching finds it where
// it was.
const QUIET = 1500;
// So long, in milliseconds, after a finger is lifted it may yet become a click.
const RELEASED = 500;
// Between two tries, in milliseconds.
const FIRST_TRY = 1500;
const LAST_TRY = 15_000;

const root = document.getElementById("inventory");
const { home, family } = root.dataset;
const person = JSON.parse(root.dataset.person);
const api = `/api/v1/families/${family}`;
const part = (name) => root.querySelector(`[data-${name}]`);
const channel = "BroadcastChannel" in window ? new BroadcastChannel("potluck-shopping") : null;

// How many there are of each thing, and of which version that is, as the server last said.
const known = new Map();
// Touches that are not kept yet: how many more or fewer of each.
const touches = new Map();
// Those that are kept, as last read; what the server said to some, and which are not to be counted any more.
let changes = [];
const answers = [];
const answered = new Set();
let notices = [];
// ok, no-signal, later, signed-out or not-yours
let state = "ok";

// --- what is shown ---

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

// Not disabled: a button that vanishes under the finger takes the focus with it.
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
// Whether a finger is down, or a key.
let held = false;

// What stands above the things, and moves them.
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

// --- keeping ---

// Nothing can be kept here, and the forms do it all by themselves.
let without = false;
let turn = Promise.resolve();

// One after the other, so that no touch is counted as kept and as not kept.
function inTurn(work) {
  turn = turn.then(work).catch((error) => console.error(error));
  return turn;
}

// What is kept by now; `kept` are the touches that are part of it.
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
  // As it is, and not as it was before.
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
      // Whoever is signed in by now sees what is theirs.
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

// --- as the server has it ---

let refreshing = 0;

function refreshSoon(after = QUIET) {
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, after);
}

const busy = () => changes.length > 0 || touches.size > 0;

// What changed is another row, and where it belongs by now; what did not stays the same, with whatever is under way there.
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
  // Who touches something meanwhile has it sent, and it is read again.
  if (busy()) return;
  // What is held down belongs to what is there now.
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
  // Who goes by keys has to see where they are; whoever touches keeps what they look at.
  if (again) again.focus({ preventScroll: !byKey });
}

// --- onto the list ---

// Those on their way, by the key that has each put there once.
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
      // It may have been drawn anew meanwhile.
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

// --- begin ---

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

// What was touched meanwhile and could not be kept is sent from here, and what it came to is shown as without this script.
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
