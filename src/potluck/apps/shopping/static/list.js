// The list: rendered from the server's last state and the pending changes, with and without signal.
//
// Every change takes the same path: it is shown, stored, and sent as soon as the server can be reached. Without this script
// the same forms do the same by themselves. Events are handled before the store has been read: that can take a device
// seconds, and changes made meanwhile wait for it.

import { all, isEnabled, one } from "../../../web/static/js/kit/elements.js";
import { onReturn, opensElsewhere } from "../../../web/static/js/kit/events.js";
import { afterPress } from "../../../web/static/js/kit/press-guard.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { _ } from "../../../web/static/js/kit/words.js";
import { addAll, addBox, addTyped, clear, count, restock, tick } from "./actions.js";
import { dialog, openEditor, saveEdit, takeOff } from "./editor.js";
import { showStored } from "./offline-page.js";
import * as store from "./offline-store.js";
import { draw, drawBanner } from "./render.js";
import { familyId, list, onUpdate, page, root, update } from "./state.js";
import { begin as beginSending, deliver, refresh, save, subscribe, tryNow } from "./sync.js";

/** @typedef {HTMLButtonElement | null} Submitter */

const addForm = /** @type {HTMLFormElement} */ (addBox.form);

// Nothing can be stored here, and the forms do everything by themselves.
let isWithout = false;
// Submissions made before the store answered, each with whether the change was stored.
/** @type {{ form: HTMLFormElement, submitter: Submitter, stored: unknown }[]} */
let early = [];
// The box was submitted on a page that did not know yet whose list it is.
let isEntered = false;

/** @param {Submitter} submitter */
function addOffered(submitter) {
  const name = submitter?.textContent?.trim() ?? "";
  addBox.value = "";
  toast(_("%(name)s added", { name }));
  return addAll([{ name, quantity: null, unit: null }]);
}

/** What each form does, by its data-do. @type {Record<string, (id: string, submitter: Submitter) => unknown>} */
const forms = {
  tick: (id, submitter) => tick(id, submitter?.value ?? "purchased"),
  count: (id, submitter) => (isEnabled(submitter) ? count(id, Number(submitter?.value)) : null),
  restock,
  clear,
  save: saveEdit,
  offer: (_id, submitter) => addOffered(submitter),
  add: () => (addBox.value.trim() ? addTyped() : addBox.focus()),
};

/** @param {SubmitEvent} event */
function onSubmit(event) {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const act = form.dataset.do;
  if (!act || isWithout) return;
  event.preventDefault();
  if (!page.list) {
    isEntered ||= act === "add";
    return;
  }
  const submitter = /** @type {Submitter} */ (event.submitter);
  const row = /** @type {HTMLElement | null} */ (form.closest("[data-id]"));
  const stored = forms[act](row?.dataset.id ?? "", submitter);
  if (!("ready" in root.dataset)) early.push({ form, submitter, stored });
}

// Adds what was entered before the script ran: without a script, Enter only starts another line.
function takeEntered() {
  const isTypedHere = addBox.value !== addBox.defaultValue;
  if (isEntered || (isTypedHere && addBox.value.endsWith("\n"))) addForm.requestSubmit();
  isEntered = false;
}

/**
 * Submissions that could not be stored go as they would have gone without this script. Submitting a form leaves the page, so
 * only one can be submitted: that of the box, which has everything that was added again, or otherwise the last one.
 * @param {unknown} error
 */
async function doWithout(error) {
  console.warn("The list does without its script:", error);
  isWithout = true;
  const unstored = [];
  for (const submission of early) if ((await submission.stored) === false) unstored.push(submission);
  const last = unstored.at(-1);
  if (!last) return;
  if (addBox.value.trim()) addForm.requestSubmit();
  else last.form.requestSubmit(last.submitter);
}

/** @param {HTMLAnchorElement} link */
function filter(link) {
  page.filter = new URL(link.href).searchParams.get("store") ?? "";
  history.replaceState(history.state, "", link.href);
  const storeId = page.filter === "unassigned" ? "" : page.filter;
  for (const field of all(root, '[name="storeId"]', HTMLInputElement)) field.value = storeId;
  update();
  afterPress(() => (all(root, ".group .only")[0] ?? addBox).focus({ preventScroll: true }));
}

/** What links and buttons do, by their data-do. @type {Record<string, (id: string) => void>} */
const clicks = {
  edit: openEditor,
  close: () => dialog.close(),
  delete: takeOff,
  show() {
    page.showsWaiting = !page.showsWaiting;
    drawBanner();
  },
};

/** @param {MouseEvent} event */
function onClick(event) {
  if (!page.list || isWithout || opensElsewhere(event) || !(event.target instanceof Element)) return;
  const link = /** @type {HTMLAnchorElement | null} */ (event.target.closest("a.only, a.only-all"));
  const control = /** @type {HTMLElement | null} */ (event.target.closest("[data-do]"));
  const act = clicks[control?.dataset.do ?? ""];
  if (!link && !act) return;
  if (link || control instanceof HTMLAnchorElement) event.preventDefault();
  const row = /** @type {HTMLElement | null | undefined} */ (control?.closest("[data-id]"));
  if (link) filter(link);
  else act(row?.dataset.id ?? "");
}

function listen() {
  document.addEventListener("submit", onSubmit);
  document.addEventListener("click", onClick);
  addBox.addEventListener("input", update);
  addBox.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    // Until the page knows whose list it is, Enter starts another line; see takeEntered.
    if (!page.list) return;
    event.preventDefault();
    addForm.requestSubmit();
  });
}

function listenToSignal() {
  addEventListener("online", tryNow);
  addEventListener("offline", () => {
    page.state = "no-signal";
    page.live = false;
    update();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) save();
    else if (!page.live || page.state !== "ok") tryNow();
    else deliver();
  });
  onReturn(refresh);
  // Expired items disappear by themselves.
  setInterval(() => !document.hidden && update(), 30_000);
}

async function begin() {
  const text = one(document, "#kept-list", HTMLTemplateElement).content.textContent?.trim();
  if (text) page.list = JSON.parse(text);
  else if (!(await showStored())) return;
  const { person, items, stores, families } = list();
  page.items = new Map(items.map((item) => [item.shoppingItemId, item]));
  page.storeNames = new Map(stores.map(({ storeId, name }) => [storeId, name]));
  beginSending();
  update();
  // Called first, so that every later call finds the owner decided.
  const owned = text && store.belongsTo(person);
  takeEntered();
  await owned;
  if (text) {
    // If there is no room for it, pending changes are still sent.
    await store.storeList(familyId(), { ...list(), at: page.fresh }).catch(() => {});
    await store.onlyFamilies(families.map((family) => family.familyId));
  }
  page.changes = await store.waitingChanges(familyId());
  page.notices = await store.notices(familyId());
  root.dataset.ready = "";
  early = [];
  listenToSignal();
  if (!navigator.onLine) page.state = "no-signal";
  update();
  if (text) {
    subscribe();
    deliver();
  } else refresh();
}

onUpdate(draw);
listen();
begin().catch(doWithout);
