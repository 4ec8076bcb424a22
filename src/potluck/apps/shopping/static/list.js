// The list: drawn from what the server last said and what waits here, whether there is signal or not.
//
// Every change goes the same way: it is kept, it is shown, and it is sent as soon as somebody answers. Without this
// script the same forms do the same by themselves.

import { addOne, addTyped, clear, count, restock, tick } from "./doing.js";
import { draw, drawBanner } from "./drawing.js";
import { dialog, openEditor, saveEdit, takeOff } from "./editing.js";
import { root, toast } from "./elements.js";
import { fromKept } from "./kept-page.js";
import * as keeping from "./keeping.js";
import { page } from "./page.js";
import { begun, deliver, hear, reach, save, tryNow } from "./reaching.js";

function onSubmit(event) {
  const form = event.target;
  const act = form.dataset.do;
  if (!act || !page.kept) return;
  const id = form.closest("[data-id]")?.dataset.id;
  event.preventDefault();
  const { submitter } = event;
  if (act === "tick") tick(id, submitter?.value ?? "purchased");
  else if (act === "count") {
    if (submitter?.getAttribute("aria-disabled") !== "true") count(id, Number(submitter?.value));
  } else if (act === "restock") restock(id);
  else if (act === "clear") clear();
  else if (act === "save") saveEdit(form);
  else if (act === "offer") {
    addOne({ name: submitter.value, quantity: null, unit: null });
    toast(`${submitter.value} is on the list.`);
    document.getElementById("add").value = "";
  } else if (act === "add") {
    const field = form.elements.lines;
    if (!field.value.trim()) return field.focus();
    if (addTyped(field.value)) field.value = "";
  }
  return undefined;
}

function onClick(event) {
  if (!page.kept || event.ctrlKey || event.metaKey || event.shiftKey) return;
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
  const field = document.getElementById("add");
  field.addEventListener("input", () => draw());
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    field.form.requestSubmit();
  });
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
  if (served) {
    page.kept = JSON.parse(text);
    await keeping.belongsTo(page.kept.person);
  } else if (!(await fromKept())) return;
  page.items = new Map(page.kept.items.map((item) => [item.shoppingItemId, item]));
  page.storeNames = new Map(page.kept.stores.map((each) => [each.storeId, each.name]));
  begun();
  if (served) {
    // Where there is no room for it, what waits is sent all the same.
    await keeping.keepList(page.kept.family.familyId, { ...page.kept, at: page.fresh }).catch(() => {});
    await keeping.onlyFamilies(page.kept.families.map((each) => each.familyId));
  }
  if (!navigator.onLine) page.state = "no-signal";
  page.changes = await keeping.waitingChanges(page.kept.family.familyId);
  page.notices = await keeping.notices(page.kept.family.familyId);
  listen();
  draw();
  root.dataset.ready = "";
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

// Where nothing can be kept, the forms do it all by themselves.
begin().catch((error) => console.warn("The list does without its script:", error));
keepPage().catch(() => {});
