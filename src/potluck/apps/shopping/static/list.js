// The list: drawn from what the server last said and what waits here, whether there is signal or not.
//
// Every change goes the same way: it is shown, it is kept, and it is sent as soon as somebody answers. Without this
// script the same forms do the same by themselves. It listens before it knows what is kept: a device can take seconds to
// say so, and what is done meanwhile waits for it.

import { addAll, addTyped, clear, count, restock, tick } from "./doing.js";
import { draw, drawBanner } from "./drawing.js";
import { dialog, openEditor, saveEdit, takeOff } from "./editing.js";
import { root, toast } from "./elements.js";
import { fromKept } from "./kept-page.js";
import * as keeping from "./keeping.js";
import { page } from "./page.js";
import { begun, deliver, hear, reach, save, tryNow } from "./reaching.js";

const field = document.getElementById("add");

// Nothing can be kept here, and the forms do it all by themselves.
let without = false;
// What was sent off before it was known whether anything can be kept: its form, the button, and whether it was kept.
let early = [];
// The box was sent off on a page that did not know yet whose list it is.
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

// What was entered while nobody listened: without a script, Enter only begins another line.
function takeEntered() {
  const typedHere = field.value !== field.defaultValue;
  if (entered || (typedHere && field.value.endsWith("\n"))) field.form.requestSubmit();
  entered = false;
}

// What was sent off meanwhile and could not be kept goes as it would have gone without this script. A form leads to another
// page, so that it can be one: that of the box, in which everything stands again that was added, or else the last.
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
    // Until it is known whose list it is, it begins another line; see takeEntered.
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
  // What expires leaves by itself.
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
  // Asked first, so that whatever is done from here on finds it answered.
  const theirs = served && keeping.belongsTo(page.kept.person);
  takeEntered();
  await theirs;
  if (served) {
    // Where there is no room for it, what waits is sent all the same.
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
  // A page that was forced to load anew is nobody's to look after, unless it is said so.
  if (!navigator.serviceWorker.controller) registration.active?.postMessage("claim");
}

listen();
begin().catch(doWithout);
keepPage().catch(() => {});
