// The list: rendered from the server's last state and the pending changes, with and without signal.
//
// Every change takes the same path: it is shown, stored, and sent as soon as the server can be reached. Without this script
// the same forms do the same by themselves. Events are handled before the store has been read: that can take a device
// seconds, and changes made meanwhile wait for it.

import { addAll, addTyped, clear, count, restock, tick } from "./doing.js";
import { draw, drawBanner } from "./drawing.js";
import { dialog, openEditor, saveEdit, takeOff } from "./editing.js";
import { root, toast } from "./elements.js";
import { fromKept } from "./kept-page.js";
import * as keeping from "./keeping.js";
import { page } from "./page.js";
import { begun, deliver, hear, reach, save, tryNow } from "./reaching.js";

const field = document.getElementById("add");

// Nothing can be stored here, and the forms do everything by themselves.
let without = false;
// Submissions made before the store answered: the form, the button, and whether the change was stored.
let early = [];
// The box was submitted on a page that did not know yet whose list it is.
let entered = false;

function offered(name) {
  field.value = "";
  toast(`${name} is on the list.`);
  return addAll([{ name, quantity: null, unit: null }], field);
}

function typed() {
  if (field.value.trim()) return addTyped(field.value);
  return field.focus();
}

function done(act, form, submitter) {
  const id = form.closest("[data-id]")?.dataset.id;
  if (act === "tick") return tick(id, submitter?.value ?? "purchased");
  if (act === "count")
    return submitter?.getAttribute("aria-disabled") === "true" ? null : count(id, Number(submitter?.value));
  if (act === "restock") return restock(id);
  if (act === "clear") return clear();
  if (act === "save") return saveEdit(form);
  if (act === "offer") return offered(submitter.textContent.trim());
  return act === "add" ? typed() : null;
}

function onSubmit(event) {
  const form = event.target;
  const act = form.dataset.do;
  if (!act || without) return;
  event.preventDefault();
  if (!page.kept) {
    entered ||= act === "add";
    return;
  }
  const { submitter } = event;
  const kept = done(act, form, submitter);
  if (!("ready" in root.dataset)) early.push({ form, submitter, kept });
}

// Adds what was entered before the script ran: without a script, Enter only starts another line.
function takeEntered() {
  const typedHere = field.value !== field.defaultValue;
  if (entered || (typedHere && field.value.endsWith("\n"))) field.form.requestSubmit();
  entered = false;
}

// Submissions that could not be stored go as they would have gone without this script. Submitting a form leaves the page, so
// only one can be submitted: that of the box, which has everything that was added again, or otherwise the last one.
async function doWithout(error) {
  console.warn("The list does without its script:", error);
  without = true;
  const unkept = [];
  for (const each of early) if ((await each.kept) === false) unkept.push(each);
  if (!unkept.length) return;
  if (field.value.trim()) field.form.requestSubmit();
  else unkept.at(-1).form.requestSubmit(unkept.at(-1).submitter);
}

function onClick(event) {
  if (!page.kept || without || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const only = event.target.closest("a.only, a.only-all");
  if (only) {
    event.preventDefault();
    page.filter = new URL(only.href).searchParams.get("store") ?? "";
    history.replaceState(history.state, "", only.href);
    const store = page.filter === "unassigned" ? "" : page.filter;
    for (const field of root.querySelectorAll('[name="storeId"]')) field.value = store;
    draw();
    const head = root.querySelector(".group .only") ?? document.getElementById("add");
    head.focus({ preventScroll: true });
    return;
  }
  const act = event.target.closest("[data-do]");
  if (act?.dataset.do === "edit") {
    event.preventDefault();
    openEditor(act.closest("[data-id]").dataset.id);
  } else if (act?.dataset.do === "close") dialog.close();
  else if (act?.dataset.do === "delete") takeOff();
  else if (act?.dataset.do === "show") {
    page.showsWaiting = !page.showsWaiting;
    drawBanner();
  }
}

function listen() {
  document.addEventListener("submit", onSubmit);
  document.addEventListener("click", onClick);
  field.addEventListener("input", () => draw());
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    // Until the page knows whose list it is, Enter starts another line; see takeEntered.
    if (!page.kept) return;
    event.preventDefault();
    field.form.requestSubmit();
  });
}

function listenToSignal() {
  addEventListener("online", tryNow);
  addEventListener("offline", () => {
    page.state = "no-signal";
    page.live = false;
    draw();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      save();
      return;
    }
    if (!page.live || page.state !== "ok") tryNow();
    else deliver();
  });
  addEventListener("pageshow", (event) => event.persisted && reach());
  // Expired items disappear by themselves.
  setInterval(() => !document.hidden && draw(), 30_000);
}

async function begin() {
  const text = document.getElementById("kept-list").content.textContent.trim();
  const served = text !== "";
  if (served) page.kept = JSON.parse(text);
  else if (!(await fromKept())) return;
  page.items = new Map(page.kept.items.map((item) => [item.shoppingItemId, item]));
  page.storeNames = new Map(page.kept.stores.map((each) => [each.storeId, each.name]));
  begun();
  draw();
  // Called first, so that every later call finds the owner decided.
  const theirs = served && keeping.belongsTo(page.kept.person);
  takeEntered();
  await theirs;
  if (served) {
    // If there is no room for it, pending changes are still sent.
    await keeping.keepList(page.kept.family.familyId, { ...page.kept, at: page.fresh }).catch(() => {});
    await keeping.onlyFamilies(page.kept.families.map((each) => each.familyId));
  }
  page.changes = await keeping.waitingChanges(page.kept.family.familyId);
  page.notices = await keeping.notices(page.kept.family.familyId);
  root.dataset.ready = "";
  early = [];
  listenToSignal();
  if (!navigator.onLine) page.state = "no-signal";
  draw();
  if (served) {
    hear();
    deliver();
  } else reach();
}

async function keepPage() {
  if (!("serviceWorker" in navigator)) return;
  await navigator.serviceWorker.register("/shopping/worker.js", { scope: "/" });
  const registration = await navigator.serviceWorker.ready;
  // After a forced reload a page has no controller until the worker claims it.
  if (!navigator.serviceWorker.controller) registration.active?.postMessage("claim");
}

listen();
begin().catch(doWithout);
keepPage().catch(() => {});
