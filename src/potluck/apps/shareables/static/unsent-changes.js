// Ticks and additions of this page: each is shown at once, stored on the device, and sent. A notice above the list says which
// did not reach the server, with a retry, and which were refused. Without storage they last as long as the page is open.

import { all, element, maybe, one, setText, stamp } from "../../../web/static/js/kit/elements.js";
import { on, onReturn } from "../../../web/static/js/kit/events.js";
import { OtherPerson } from "../../../web/static/js/kit/outbox-store.js";
import { newId, send } from "../../../web/static/js/kit/send.js";
import { coalesced, retries } from "../../../web/static/js/kit/turns.js";
import { _, ngettext } from "../../../web/static/js/kit/words.js";
import { addChange, deliver, outbox, store } from "./outbox.js";

/** @typedef {import("./changes.js").Change} Change */
/** @typedef {{ count: () => number, words: (count: number) => string, again: () => void }} Kind */

const region = one(document, "[data-unsent]");
const place = one(document, "[data-shareable]").dataset.shareable ?? "";
const { person = "", savedAt } = document.body.dataset;
const channel = "BroadcastChannel" in window ? new BroadcastChannel("potluck-shareables-changes") : null;

/** @type {Change[]} */
let stored = [];
/** Made here, and not stored yet: without storage, until they are sent. @type {Set<Change>} */
const unstored = new Set();
/** @type {any[]} */
let notices = [];
/** Whether the last attempt reached the server. */
let reached = true;

/** All pending changes, in their order. */
export const changes = () => [...stored, ...[...unstored].filter(({ key }) => !stored.some((row) => row.key === key))];

/** Whether pending changes are to be pointed out. */
export const isWaiting = () => !reached || !navigator.onLine;

/** Whether a change of this thing was refused. @param {string} thing */
export const isRefused = (thing) => notices.some(({ id }) => id === thing);

// --- other changes, which are not kept ---

/** @type {Kind[]} */
const kinds = [];

/** Counts changes of this kind; `words` says how many wait if there is no other kind. @param {Kind} kind */
export const watch = (kind) => kinds.push(kind);

/**
 * Sends a form, and resolves to the answer; `waits` if it has to be sent again.
 * @param {string} address
 * @param {Record<string, string> | string[][]} form
 */
export async function sendForm(address, form) {
  const answer = await send(address, { form });
  // This person may no longer view it: reloading the page says why.
  if (answer.outcome === "signed-out" || answer.status === 410) location.reload();
  return { ...answer, waits: answer.outcome === "no-signal" || answer.outcome === "later" };
}

// --- showing ---

/** @type {() => void} */
let draw = () => {};
/** @type {(change: Change | undefined) => void} */
let sent = () => {};

/** Who shows the changes, and what to do when the server has taken them. @param {() => void} drawn @param {typeof sent} onSent */
export function onUpdate(drawn, onSent) {
  draw = drawn;
  sent = onSent;
}

function words() {
  const pending = isWaiting() ? changes() : [];
  const ticks = pending.filter(({ kind }) => kind === "tick").length;
  const added = pending.filter(({ kind }) => kind === "add");
  const [other, ...others] = kinds.filter((kind) => kind.count() > 0);
  const count = pending.length + [other, ...others].reduce((sum, kind) => sum + (kind?.count() ?? 0), 0);
  if (!count) return "";
  if (count === ticks) return ngettext("%(num)s tick isn’t sent yet.", "%(num)s ticks aren’t sent yet.", ticks);
  if (count === 1 && added.length) return _("%(name)s isn’t on the list yet.", { name: added[0].name });
  if (count === added.length)
    return ngettext("%(num)s item isn’t on the list yet.", "%(num)s items aren’t on the list yet.", count);
  if (!pending.length && !others.length) return other.words(count);
  return ngettext("%(num)s change isn’t sent yet.", "%(num)s changes aren’t sent yet.", count);
}

/** Says what waits, and what was refused. */
export function tell() {
  const text = words();
  const waits = maybe(region, "[data-waits]");
  if (!text) waits?.remove();
  else {
    const banner = waits ?? stamp("try-again");
    if (!waits) region.prepend(banner);
    const [fact, more] = all(banner, "strong, strong + span");
    setText(fact, text);
    const isLost = unstored.size > 0 || kinds.some((kind) => kind.count() > 0);
    const offline = isLost
      ? _("Keep this page open, and your changes will sync later.")
      : _("Changes are saved on this device and will sync later.");
    setText(more, navigator.onLine ? _("The server didn’t answer.") : offline);
  }
  for (const shown of all(region, "[data-notice]"))
    if (!notices.some(({ number }) => String(number) === shown.dataset.notice)) shown.remove();
  for (const { number, name, message } of notices) {
    if (maybe(region, `[data-notice="${number}"]`)) continue;
    const banner = stamp("refused-change");
    banner.dataset.notice = String(number);
    const [fact, more] = all(banner, "strong, strong + span");
    setText(fact, _("%(name)s couldn’t be saved", { name }));
    setText(more, `${message}.`.replace("..", "."));
    region.append(banner);
  }
}

function update() {
  draw();
  tell();
}

// --- storing ---

async function reread() {
  stored = (await store.waiting(place)).filter((/** @type {Change} */ change) => change.person === person);
  notices = await store.notices(place);
  for (const change of unstored) if (stored.some(({ key }) => key === change.key)) unstored.delete(change);
  update();
}

/** Without storage: settles a change that waits in this page. */
const inPage = {
  finish: async (/** @type {any} */ change, /** @type {any} */ _version, /** @type {any} */ notice) => {
    unstored.delete(change);
    if (notice) notices.push({ number: newId(), ...notice });
  },
};

const sendUnstored = coalesced(async () => {
  for (const change of unstored) {
    const outcome = await deliver(change, inPage);
    settle(outcome);
    if (outcome !== "done") return;
    sent(change);
  }
  update();
});

let isWithout = false;

/**
 * Shows a change, stores it and sends it.
 * @param {"tick" | "add"} kind
 * @param {string} id
 * @param {{ name: string, values?: Record<string, any> }} details
 */
export async function make(kind, id, details) {
  const change = /** @type {Change} */ ({
    place,
    person,
    kind,
    id,
    key: newId(),
    at: Date.now(),
    values: {},
    sent: false,
    ...details,
  });
  unstored.add(change);
  update();
  try {
    if (!isWithout) await addChange(change);
  } catch (error) {
    if (error instanceof OtherPerson) {
      location.reload();
      return;
    }
    isWithout = true;
  }
  if (isWithout) {
    sendUnstored();
    return;
  }
  unstored.delete(change);
  await reread();
  channel?.postMessage("changed");
  sendNow();
}

// --- sending ---

const sendStored = outbox(place, () => {
  sent(undefined);
  channel?.postMessage("changed");
});

/** @param {import("../../../web/static/js/kit/outbox.js").Outcome} outcome */
function settle(outcome) {
  if (outcome === "nothing") return;
  reached = outcome === "done";
  // This person may no longer view it: reloading the page says why. Their changes wait until they may.
  if (outcome === "signed-out" || outcome === "not-yours") location.reload();
  if (outcome === "not-yours") store.forgetPlace(place);
  if (outcome === "done") attempts.reset();
  else attempts.soon();
}

export async function sendNow() {
  attempts.cancel();
  for (const kind of kinds) if (kind.count() > 0) kind.again();
  if (isWithout) {
    await sendUnstored();
    return;
  }
  settle(await sendStored());
  await reread();
}

const attempts = retries(sendNow);

on(region, "click", "[data-again]", sendNow);
on(region, "click", "[data-ok]", async (button) => {
  const number = button.closest("[data-notice]")?.getAttribute("data-notice") ?? "";
  notices = notices.filter((notice) => String(notice.number) !== number);
  tell();
  await store.dropNotice(Number(number)).catch(() => {});
});
channel?.addEventListener("message", reread);
addEventListener("online", sendNow);
addEventListener("offline", update);
document.addEventListener("visibilitychange", () => !document.hidden && sendNow());
document.addEventListener("potluck:live", sendNow);
onReturn(sendNow);
// Leaving the page now would lose them.
addEventListener("beforeunload", (event) => {
  if (unstored.size || kinds.some((kind) => kind.count() > 0)) event.preventDefault();
});
// Leaving the list for good, on this device.
on(document, "submit", `form[action$="/${place}/leave"]`, () => void store.forgetPlace(place).catch(() => {}));

/** Called once everything that shows changes is there. */
export async function begin() {
  try {
    // A saved page is shown only to the person it was made for.
    if (!savedAt) await store.belongsTo({ id: person });
    await reread();
  } catch {
    isWithout = true;
  }
  await sendNow();
}

/** An element for what was added and is not on the list yet. @param {Change} change */
export const addedRow = ({ name }) => {
  const row = stamp("added-row");
  one(row, "bdi").textContent = name;
  return element("li", { class: "row item waiting" }, ...row.childNodes);
};
