// The list: drawn from what the server last said and what waits here, whether there is signal or not.
//
// Every change goes the same way: it is kept, it is shown, and it is sent as soon as somebody answers. Without this
// script the same forms do the same by themselves.

import { FIELDS, amount, changeInWords, groups, inWords, lately, withChanges } from "./changes.js";
import * as keeping from "./keeping.js";
import { fold, readLines } from "./lines.js";
import { NoSignal, asked, newId, sender } from "./sending.js";

const OFFERS = 12;
// How long, in milliseconds: a change may be under way before it is said to wait, a ticked row stays where it was,
// and nobody answers before it is tried again.
const UNDER_WAY = 1500;
const LINGERS = 450;
const FIRST_TRY = 1500;
const LAST_TRY = 15_000;
const LONGEST_NAME = 100;
const MOST_LINES = 50;

const root = document.getElementById("shopping");
const part = (name) => root.querySelector(`[data-${name}]`);
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const time = (at) => clock.format(new Date(at));
const still = matchMedia("(prefers-reduced-motion: reduce)");
const channel = "BroadcastChannel" in window ? new BroadcastChannel("potluck-shopping") : null;

// What the server last said, and what waits.
let home = root.dataset.home;
let kept = null;
let items = new Map();
let changes = [];
let notices = [];
let storeNames = new Map();
let filter = new URLSearchParams(location.search).get("store") ?? "";
// ok, no-signal, signed-out, not-yours, later
let state = "ok";
let live = false;
let fresh = Date.now();
let showsWaiting = false;
let send = async () => "done";
let shown = new Map();
const lingering = new Map();
const touched = new Set();

// --- small things ---

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  made.append(...children.filter((each) => each !== null && each !== undefined && each !== ""));
  return made;
}

const icon = (name) =>
  document.getElementById("icons").content.querySelector(`[data-icon="${name}"] > svg`).cloneNode(true);

const things = (count) => `${count} ${count === 1 ? "thing" : "things"}`;

function toast(text, action = "", act = null) {
  const button = act && element("button", { type: "button" }, icon("undo-2"), action);
  const made = element("div", { class: "toast" }, element("p", {}, text), button);
  button?.addEventListener("click", () => {
    made.remove();
    act();
  });
  document.getElementById("toasts").replaceChildren(made);
}

const storeName = (item) => storeNames.get(item.storeId) ?? item.storeName ?? null;

function note(item) {
  const who =
    item.addedBy === kept.person.id
      ? "you"
      : item.addedByName === "Former member"
        ? "a former member"
        : item.addedByName.split(" ")[0];
  const bought = item.status === "purchased";
  const much = bought && item.quantity > 1 ? amount(item) : item.unit;
  return [much, item.notes, who].filter(Boolean).join(" · ");
}

// --- drawing ---

function blankRow(id) {
  const row = document.getElementById("row").content.querySelector("li").cloneNode(true);
  for (const each of [row, ...row.querySelectorAll("[id], [action], [href], [aria-labelledby]")])
    for (const name of ["id", "action", "href", "aria-labelledby", "aria-describedby"]) {
      const value = each.getAttribute(name);
      if (value === null) continue;
      if (name === "action" || name === "href") each.setAttribute(name, value.replace("/list/", `/list/${id}`));
      else each.setAttribute(name, `${value}${id}`);
    }
  row.dataset.id = id;
  return row;
}

function set(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

function fill(row, item, waits) {
  const ticked = item.status === "purchased";
  const tick = row.querySelector('[role="checkbox"]');
  row.classList.toggle("ticked", ticked);
  row.classList.toggle("waiting", waits);
  tick.setAttribute("aria-checked", ticked);
  tick.value = ticked ? "pending" : "purchased";
  set(row.querySelector('[data-part="name"]'), item.name);
  set(row.querySelector('[data-part="note"]'), note(item));
  row.querySelector('[data-part="waits"]').hidden = !waits;
  const quantity = item.quantity ?? 1;
  set(row.querySelector('[data-part="quantity"]'), String(quantity));
  const [less, more] = row.querySelectorAll(".stepper button");
  less.value = quantity - 1;
  more.value = quantity + 1;
  // Not disabled: a button that vanishes under the finger takes the focus with it.
  less.setAttribute("aria-disabled", quantity <= 1);
  row.querySelector(".stepper").setAttribute("aria-label", `How many: ${item.name}`);
  for (const field of row.querySelectorAll('[name="version"]')) field.value = item.version;
  row.querySelector(".thing-count").hidden = ticked;
  row.querySelector(".thing-more").hidden = ticked;
  row.querySelector(".thing-more").setAttribute("aria-label", `Change ${item.name}`);
  const restock = row.querySelector(".thing-restock");
  restock.hidden = !(ticked && item.itemId && !item.restockedAt && !lingering.has(item.shoppingItemId));
  restock.querySelector("button").setAttribute("aria-label", `Put away: ${item.name}`);
}

// The children of a place become these, moving as few as can be.
function arrange(place, wanted) {
  for (const each of [...place.children]) if (!wanted.includes(each)) each.remove();
  for (const [index, each] of wanted.entries())
    if (place.children[index] !== each) place.insertBefore(each, place.children[index] ?? null);
}

const rows = new Map();

function rowOf(item, waits) {
  const id = item.shoppingItemId;
  if (!rows.has(id)) rows.set(id, document.getElementById(`thing-${id}`) ?? blankRow(id));
  const row = rows.get(id);
  fill(row, item, waits);
  if (touched.delete(id)) {
    row.classList.remove("changed");
    // So that it is tinted again.
    void row.offsetWidth;
    row.classList.add("changed");
  }
  return row;
}

function groupOf(group, several) {
  const id = `store-${group.store}`;
  let section = root.querySelector(`section[data-store="${CSS.escape(group.store)}"]`);
  if (!section) {
    const head = element("div", { class: "group-head" }, element("h2", { id }), element("span", { class: "soft num" }));
    section = element("section", { class: "group", "data-store": group.store, "aria-labelledby": id }, head);
    section.append(element("ul", { class: "rows", "aria-labelledby": id }));
  }
  set(section.querySelector("h2"), group.name);
  set(section.querySelector(".num"), String(group.count));
  let only = section.querySelector(".only");
  if (!filter && !several) only?.remove();
  else {
    if (!only) section.querySelector(".group-head").append((only = element("a", { class: "only" })));
    only.href = filter ? home : `${home}?store=${group.store}`;
    set(only, filter ? "All stores" : "Only here");
    if (filter) only.removeAttribute("aria-label");
    else only.setAttribute("aria-label", `Only here: ${group.name}`);
  }
  return section;
}

function draw() {
  if (!kept) return;
  const now = Date.now();
  const focused = document.activeElement;
  const { all, waiting } = withChanges(items, changes, kept.person);
  shown = all;
  const held = state !== "ok";
  const waits = (id) => waiting.has(id) && (held || now - waiting.get(id) > UNDER_WAY);
  const there = [...all.values()].filter((item) => !(item.status === "purchased" && item.ttl && item.ttl * 1000 <= now));
  const open = there.filter((item) => item.status === "pending");
  const inSight = there.filter((item) => item.status === "pending" || lingering.has(item.shoppingItemId));
  const found = groups(inSight, storeNames);
  const drawn = [];
  for (const group of found) {
    if (filter && filter !== group.store) continue;
    group.count = group.items.filter((item) => item.status === "pending").length;
    const section = groupOf(group, found.length > 1);
    arrange(
      section.querySelector("ul"),
      group.items.map((item) => rowOf(item, waits(item.shoppingItemId))),
    );
    drawn.push(section);
  }
  if (filter && drawn.length === 0 && open.length > 0)
    drawn.push(
      root.querySelector("[data-done-here]") ??
        element("p", { class: "done", "data-done-here": true }, icon("check"), element("span", {}, "Nothing more here. ", element("a", { class: "only-all", href: home }, "All stores"))),
    );
  arrange(part("groups"), drawn);
  const bought = lately(there.filter((item) => item.status === "purchased" && !lingering.has(item.shoppingItemId)));
  arrange(
    part("purchased-rows"),
    bought.map((item) => rowOf(item, waits(item.shoppingItemId))),
  );
  set(part("purchased-count"), String(bought.length));
  part("purchased").hidden = bought.length === 0;
  part("empty").hidden = open.length > 0 || lingering.size > 0;
  set(part("count"), things(open.length));
  drawOffers(open);
  drawBanner();
  drawNotices();
  drawFresh();
  // What was moved has lost the focus.
  if (focused?.isConnected && document.activeElement !== focused && root.contains(focused)) focused.focus({ preventScroll: true });
  for (const id of rows.keys()) if (!all.has(id)) rows.delete(id);
}

function drawFresh() {
  const badge = part("fresh");
  const said = live && state === "ok" ? "Live" : `Last fresh at ${time(fresh)}`;
  badge.classList.toggle("off", said !== "Live");
  set(badge, said);
}

function drawOffers(open) {
  const typed = fold(document.getElementById("add").value.split("\n").at(-1));
  const taken = new Set(open.map((item) => fold(item.name)));
  const offers = kept.suggestions
    .filter((each) => !taken.has(fold(each.name)) && (!typed || fold(each.name).includes(typed)))
    .slice(0, OFFERS);
  const place = part("offers");
  const told = JSON.stringify(offers.map((each) => [each.name, each.itemId]));
  if (place.dataset.told === told) return;
  place.dataset.told = told;
  place.replaceChildren(
    ...offers.map((each) =>
      element("li", {}, element("button", { class: "chip", name: "offer", value: each.name }, icon("plus"), each.name)),
    ),
  );
}

const nameOf = (change) => change.values?.name ?? change.shown?.name ?? shown.get(change.id)?.name ?? items.get(change.id)?.name ?? change.name ?? "It";

function banner(sign, fact, more, link = null) {
  return element("div", { class: "banner" }, icon(sign), element("span", {}, element("strong", {}, fact), more && element("span", { class: "num" }, more)), link);
}

function drawBanner() {
  const count = changes.length;
  const wait = count ? `${count} ${count === 1 ? "change waits" : "changes wait"} here.` : "";
  const late = count && Date.now() - changes[0].at > 2 * UNDER_WAY;
  let made = null;
  if (state === "not-yours")
    made = banner("lock", "This list is not open to you any more", "You were taken off it, or it is gone.", element("a", { href: "/shopping" }, "Your families"));
  else if (state === "signed-out")
    made = banner("lock", "You are signed out", wait ? `${wait} Sign in, and they are sent.` : "The list is as it was last.", element("a", { href: `/sign-in?next=${encodeURIComponent(location.pathname)}` }, "Sign in"));
  else if (state === "no-signal" || state === "later" || late) {
    const button = count ? element("button", { type: "button", "data-do": "show", "aria-expanded": String(showsWaiting), "aria-controls": "waiting" }, showsWaiting ? "Hide" : "Show") : null;
    const fact = state === "no-signal" ? "No signal, carry on" : "One moment";
    made = banner(state === "no-signal" ? "cloud-off" : "clock", fact, wait || "What you change here is kept, and sent later.", button);
    if (showsWaiting && count)
      made.append(element("ul", { class: "waiting-list", id: "waiting" }, ...changes.map((each) => element("li", {}, changeInWords(each, nameOf(each), storeNames)))));
  }
  const place = part("banner");
  const told = made?.outerHTML ?? "";
  if (place.dataset.told === told) return;
  const again = place.contains(document.activeElement);
  place.dataset.told = told;
  place.replaceChildren(...(made ? [made] : []));
  if (again) place.querySelector("button, a")?.focus();
}

// --- what came of changes, and needs a word or a choice ---

function choice(text, from, act) {
  return element("button", { type: "button", onclick: act }, element("b", {}, text), element("small", {}, from));
}

function noticeOf(notice) {
  const head = (text) => element("h2", { id: `notice-${notice.number}` }, text);
  const box = (...inside) => element("section", { class: "clash", "aria-labelledby": `notice-${notice.number}`, "data-number": notice.number }, ...inside);
  const gone = async (act = null) => {
    await keeping.dropNotice(notice.number);
    if (act) await act();
    await reread();
    document.getElementById("add").focus({ preventScroll: true });
  };
  const soft = (text) => element("p", { class: "soft" }, text);
  if (notice.kind === "conflict") {
    const { fields, mine, theirs } = notice;
    const whole = { ...theirs, ...mine };
    return box(
      head(`${notice.name} changed twice`),
      soft("You changed it here, and somebody else did too. Which one stays?"),
      element(
        "div",
        { class: "clash-two" },
        choice(inWords(fields, whole, storeNames), `yours, ${time(notice.mineAt)}`, () =>
          gone(() => {
            const now = items.get(notice.id) ?? theirs;
            return make("edit", notice.id, { values: mine, before: Object.fromEntries(Object.keys(mine).map((field) => [field, now[field]])), seen: now.version });
          }),
        ),
        choice(inWords(fields, theirs, storeNames), `theirs, ${time(theirs.updatedAt)}`, () => gone()),
      ),
    );
  }
  if (notice.kind === "gone") {
    const { change } = notice;
    const said = change.kind === "status" ? "You ticked it here" : "You changed it here";
    return box(
      head(`${notice.name} is not on the list any more`),
      soft(`${said}, but somebody took it off before that could be sent.`),
      element(
        "div",
        { class: "actions" },
        element("button", { type: "button", class: "quiet", onclick: () => gone() }, "All right"),
        element("button", { type: "button", class: "soft-button", onclick: () => gone(() => add({ name: notice.name, quantity: null, unit: null, ...change.values, status: undefined })) }, icon("plus"), "Put it back"),
      ),
    );
  }
  if (notice.kind === "duplicate") {
    const { existing, change } = notice;
    const more = change.values.quantity ?? 1;
    const from = existing.addedBy === kept.person.id ? "from you" : `from ${existing.addedByName}`;
    return box(
      head(`${existing.name} is on the list already`),
      soft(`${amount(existing)}, ${from}.`),
      element(
        "div",
        { class: "actions" },
        element("button", { type: "button", onclick: () => gone(() => count(existing.shoppingItemId, (shown.get(existing.shoppingItemId)?.quantity ?? existing.quantity ?? 1) + more)) }, "Add to the one on the list"),
        element("button", { type: "button", class: "quiet", onclick: () => gone(() => make("add", newId(), { values: change.values, shown: change.shown, allowDuplicate: true })) }, "Keep both"),
        element("button", { type: "button", class: "bare", onclick: () => gone() }, "Leave it"),
      ),
    );
  }
  return box(
    head(`${notice.name} could not be changed`),
    soft(`${notice.message}.`),
    element("div", { class: "actions" }, element("button", { type: "button", class: "quiet", onclick: () => gone() }, "All right")),
  );
}

function drawNotices() {
  const place = part("notices");
  const told = JSON.stringify(notices);
  if (place.dataset.told === told) return;
  place.dataset.told = told;
  place.replaceChildren(...notices.map(noticeOf));
}

// --- what people do ---

async function reread() {
  changes = await keeping.waitingChanges(kept.family.familyId);
  notices = await keeping.notices(kept.family.familyId);
  draw();
}

// Keep a change, show it, send it.
async function make(kind, id, details) {
  await keeping.addChange({
    family: kept.family.familyId,
    person: kept.person.id,
    kind,
    id,
    name: shown.get(id)?.name ?? "",
    key: newId(),
    seen: null,
    sent: false,
    at: Date.now(),
    values: {},
    before: {},
    ...details,
  });
  await reread();
  channel?.postMessage("changed");
  setTimeout(draw, UNDER_WAY + 50);
  setTimeout(draw, 2 * UNDER_WAY + 50);
  deliver();
}

function add({ name, quantity, unit, ...others }) {
  const known = kept.suggestions.find((each) => fold(each.name) === fold(name));
  const store = filter && filter !== "unassigned" ? filter : null;
  const values = { quantity, unit, storeId: store, ...others };
  const seen = { name: known?.name ?? name, unit: unit ?? known?.unit ?? null, storeId: store ?? known?.storeId ?? null };
  if (known?.itemId) values.itemId = known.itemId;
  else {
    values.name = name;
    values.storeId ??= known?.storeId ?? null;
    values.unit ??= known?.unit ?? null;
  }
  return make("add", newId(), { values: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined)), shown: seen });
}

async function addTyped(text) {
  const lines = readLines(text);
  const field = document.getElementById("add");
  document.getElementById("add-error")?.remove();
  field.removeAttribute("aria-invalid");
  const wrong = lines.some((each) => each.name.length > LONGEST_NAME)
    ? `One line can have ${LONGEST_NAME} characters. The rest can be a note.`
    : lines.length > MOST_LINES
      ? `${MOST_LINES} lines at a time, please.`
      : "";
  if (wrong) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", "add-error");
    document.getElementById("adding").append(element("p", { class: "error", id: "add-error", role: "alert" }, icon("triangle-alert"), element("span", {}, wrong)));
    return false;
  }
  for (const line of lines) await addOne(line);
  if (lines.length > 1) toast(`${lines.length} things are on the list.`);
  return true;
}

async function addOne(line) {
  const existing = [...shown.values()].find((item) => item.status === "pending" && fold(item.name) === fold(line.name));
  if (!existing) return add(line);
  const known = kept.suggestions.find((each) => fold(each.name) === fold(line.name));
  const values = known?.itemId ? { itemId: known.itemId, ...(line.quantity && { quantity: line.quantity }) } : { name: line.name, ...(line.quantity && { quantity: line.quantity }), ...(line.unit && { unit: line.unit }) };
  await keeping.addNotice({ family: kept.family.familyId, at: Date.now(), kind: "duplicate", existing, change: { values, shown: { name: line.name } } });
  await reread();
  part("notices").lastElementChild?.scrollIntoView({ block: "nearest" });
  return part("notices").lastElementChild?.querySelector("button")?.focus();
}

// Where the focus goes when its row leaves.
function beside(row) {
  const all = [...part("groups").querySelectorAll('[role="checkbox"]')];
  const index = all.indexOf(row.querySelector('[role="checkbox"]'));
  return all[index + 1] ?? all[index - 1] ?? document.getElementById("add");
}

async function tick(id, status) {
  const item = shown.get(id);
  if (!item) return;
  const row = rows.get(id);
  if (status === "purchased") {
    const next = row?.contains(document.activeElement) ? beside(row) : null;
    lingering.set(id, true);
    setTimeout(
      () => {
        lingering.delete(id);
        const had = row?.contains(document.activeElement);
        draw();
        if (had) next?.focus({ preventScroll: true });
      },
      still.matches ? 0 : LINGERS,
    );
    toast(`${item.name} is in the basket.`, "Undo", () => tick(id, "pending"));
  } else lingering.delete(id);
  await make("status", id, { values: { status }, before: { status: item.status }, seen: item.version });
}

async function count(id, quantity) {
  const item = shown.get(id);
  if (!item || quantity < 1 || quantity > 100_000 || quantity === (item.quantity ?? 1)) return;
  await make("edit", id, { values: { quantity }, before: { quantity: item.quantity }, seen: item.version });
}

// What only the server can do.
async function ask(address, body = {}) {
  try {
    const answer = await asked(`${api()}/shopping-list/${address}`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": newId() },
      body: JSON.stringify(body),
    });
    if (answer.ok) return answer.body;
    toast(`${answer.body?.detail ?? "That did not work"}.`.replace("..", "."));
  } catch (error) {
    if (!(error instanceof NoSignal)) throw error;
    toast("That needs signal. Try again when it is back.");
  }
  return null;
}

async function restock(id) {
  const item = shown.get(id);
  const answer = await ask(`${id}/restock`);
  if (!answer) return;
  told("updated", answer.shoppingItem);
  toast(`${item.name} is put away. ${amount(answer.inventoryItem)} at home.`);
}

async function clear() {
  const answer = await ask("clear-purchased");
  if (!answer) return;
  for (const item of [...items.values()]) if (item.status === "purchased") items.delete(item.shoppingItemId);
  changed();
  document.getElementById("add").focus({ preventScroll: true });
  if (answer.undoToken)
    toast(`${things(answer.cleared)} cleared.`, "Undo", async () => {
      const back = await ask("undo", { undoToken: answer.undoToken });
      for (const item of back?.items ?? []) items.set(item.shoppingItemId, item);
      if (back) changed();
    });
}

// --- changing a thing ---

const dialog = document.getElementById("editing");
let editing = null;

function openEditor(id) {
  const item = shown.get(id);
  if (!item) return;
  editing = item;
  const form = dialog.querySelector("form");
  const { name, quantity, unit, storeId, notes } = form.elements;
  set(dialog.querySelector("h2"), `Change ${item.name}`);
  name.defaultValue = item.name;
  quantity.defaultValue = item.quantity ?? 1;
  quantity.value = item.quantity ?? 1;
  unit.defaultValue = item.unit ?? "";
  notes.defaultValue = item.notes ?? "";
  storeId.replaceChildren(
    element("option", { value: "" }, "Any store"),
    ...kept.stores.map((each) => element("option", { value: each.storeId, selected: each.storeId === item.storeId }, each.name)),
  );
  form.reset();
  dialog.querySelector("[data-wrong]").hidden = true;
  dialog.showModal();
}

async function saveEdit(form) {
  const text = (field) => form.elements[field].value.trim();
  const wanted = {
    name: text("name"),
    storeId: text("storeId") || null,
    quantity: Number(text("quantity")),
    unit: text("unit") || null,
    notes: text("notes") || null,
  };
  const wrong = dialog.querySelector("[data-wrong]");
  if (!wanted.name || wanted.name.length > LONGEST_NAME) {
    set(wrong.querySelector("span"), "It needs a name of up to 100 characters.");
    wrong.hidden = false;
    form.elements.name.focus();
    return;
  }
  const item = editing;
  // One that is not said is one; it stays unsaid until it is another.
  const before = Object.fromEntries(FIELDS.map((field) => [field, item[field] ?? null]));
  if (before.quantity === null && wanted.quantity === 1) wanted.quantity = null;
  const differing = FIELDS.filter((field) => wanted[field] !== before[field]);
  dialog.close();
  if (differing.length === 0) return;
  const only = (values) => Object.fromEntries(differing.map((field) => [field, values[field]]));
  await make("edit", item.shoppingItemId, { values: only(wanted), before: only(before), seen: item.version });
}

async function takeOff() {
  const item = editing;
  dialog.close();
  await make("delete", item.shoppingItemId, { seen: item.version });
  const { name, quantity, unit, storeId, notes, itemId } = item;
  const again = Object.fromEntries(Object.entries({ name, quantity, unit, storeId, notes, itemId }).filter(([, value]) => value !== null));
  toast(`${name} is off the list.`, "Undo", () => make("add", newId(), { values: again, shown: {} }));
  document.getElementById("add").focus({ preventScroll: true });
}

// --- hearing ---

const api = () => `/api/v1/families/${kept.family.familyId}`;

let saving = 0;

// What the server said is another: it is drawn, and kept.
function changed() {
  draw();
  clearTimeout(saving);
  saving = setTimeout(save, 200);
}

function save() {
  if (state === "not-yours") return;
  keeping.keepList(kept.family.familyId, { ...kept, items: [...items.values()], at: fresh }).catch(() => {});
}

function told(event, item) {
  if (event === "sent") {
    reread();
    return;
  }
  const id = item.shoppingItemId;
  const before = items.get(id);
  if (event === "deleted") items.delete(id);
  else if (!before || before.version <= item.version) items.set(id, item);
  changed();
}

let stream = null;

function hear() {
  if (stream && stream.readyState !== EventSource.CLOSED) return;
  stream = new EventSource(`${api()}/shopping-list/events?since=${encodeURIComponent(kept.position)}`);
  const source = stream;
  source.onopen = () => {
    live = true;
    fresh = Date.now();
    if (state === "no-signal" || state === "later") state = "ok";
    draw();
    deliver();
  };
  source.onerror = () => {
    live = false;
    drawFresh();
    if (source === stream) soon();
  };
  for (const name of ["created", "updated", "deleted"])
    source.addEventListener(name, (event) => {
      kept.position = event.lastEventId || kept.position;
      fresh = Date.now();
      const item = JSON.parse(event.data);
      const mine = changes.some((each) => each.id === item.shoppingItemId);
      const known = items.get(item.shoppingItemId);
      if (!mine && name !== "deleted" && known?.version !== item.version) touched.add(item.shoppingItemId);
      told(name, item);
    });
  source.addEventListener("reset", () => reach());
}

// --- reaching the server ---

let trying = 0;
let pause = FIRST_TRY;

function soon(after = pause) {
  clearTimeout(trying);
  trying = setTimeout(reach, after);
  pause = Math.min(LAST_TRY, pause * 1.6);
}

async function deliver() {
  const outcome = await send();
  if (outcome === "done") {
    if (state === "no-signal" || state === "later") state = "ok";
  } else if (outcome === "no-signal" || outcome === "later") {
    state = outcome;
    soon();
  } else over(outcome);
  await reread();
}

function over(why) {
  state = why;
  live = false;
  stream?.close();
  stream = null;
  if (why === "not-yours") keeping.forgetFamily(kept.family.familyId);
}

// Read the whole list again, send what waits, and listen from there.
let reaching = null;

function reach() {
  clearTimeout(trying);
  reaching ??= reached().finally(() => (reaching = null));
  return reaching;
}

async function reached() {
  try {
    const all = [];
    let cursor = null;
    let position = null;
    do {
      const answer = await asked(`${api()}/shopping-list?limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
      if (answer.status === 401 || answer.status === 404) {
        over(answer.status === 401 ? "signed-out" : "not-yours");
        draw();
        return;
      }
      if (!answer.ok) throw new NoSignal("not now");
      all.push(...answer.body.items);
      position ??= answer.body.position;
      cursor = answer.body.nextCursor;
    } while (cursor);
    const before = items;
    items = new Map(
      all.map((item) => {
        const known = before.get(item.shoppingItemId);
        return [item.shoppingItemId, known && known.version > item.version ? known : item];
      }),
    );
    kept.position = position;
    fresh = Date.now();
    state = "ok";
    pause = FIRST_TRY;
    stream?.close();
    stream = null;
    changed();
    hear();
    await deliver();
  } catch (error) {
    if (!(error instanceof NoSignal)) throw error;
    state = "no-signal";
    live = false;
    draw();
    soon();
  }
}

// --- wiring ---

function onSubmit(event) {
  const form = event.target;
  const act = form.dataset.do;
  if (!act || !kept) return;
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
    addTyped(field.value).then((taken) => {
      if (!taken) return;
      field.value = "";
      draw();
    });
  }
  return undefined;
}

function onClick(event) {
  if (!kept || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const only = event.target.closest("a.only, a.only-all");
  if (only) {
    event.preventDefault();
    filter = new URL(only.href).searchParams.get("store") ?? "";
    history.replaceState(history.state, "", only.href);
    for (const field of root.querySelectorAll('[name="storeId"]')) field.value = filter === "unassigned" ? "" : filter;
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
    showsWaiting = !showsWaiting;
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
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    rows.get(editing?.shoppingItemId)?.querySelector(".thing-more")?.focus({ preventScroll: true });
  });
  addEventListener("online", () => {
    pause = FIRST_TRY;
    reach();
  });
  addEventListener("offline", () => {
    state = "no-signal";
    live = false;
    draw();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      save();
      return;
    }
    pause = FIRST_TRY;
    if (!live || state !== "ok") reach();
    else deliver();
  });
  addEventListener("pageshow", (event) => event.persisted && reach());
  channel?.addEventListener("message", () => reread());
  // What expires leaves by itself.
  setInterval(() => !document.hidden && draw(), 30_000);
}

// --- a page that was kept, with nobody's list on it ---

function put(family) {
  const named = (text) => text.replace("/shopping/FAMILY", `/shopping/${family}`);
  for (const within of [document, document.getElementById("row").content]) {
    for (const each of within.querySelectorAll('[href*="/shopping/FAMILY"]')) each.setAttribute("href", named(each.getAttribute("href")));
    for (const each of within.querySelectorAll('[action*="/shopping/FAMILY"]')) each.setAttribute("action", named(each.getAttribute("action")));
  }
  home = named(home);
  const me = document.querySelector(".me");
  if (!me.children.length)
    me.append(
      element("a", { href: "/account" }, element("span", { class: "avatar" }, kept.person.initials), element("span", { class: "hidden-text" }, `${kept.person.name}, your account`)),
    );
}

function nothing(title, text) {
  for (const name of ["banner", "offers", "groups", "purchased", "low", "notices"]) part(name)?.remove();
  document.getElementById("adding").remove();
  for (const name of ["count", "fresh"]) part(name).hidden = true;
  const box = part("empty");
  box.hidden = false;
  set(box.querySelector(".empty-name"), title);
  set(box.querySelector(".empty-name + p"), text);
  const again = () => location.reload();
  addEventListener("online", again);
  return box;
}

async function fromKept() {
  const person = await keeping.whose();
  const family = /^\/shopping\/([0-9a-f-]{36})(\/|$)/.exec(location.pathname)?.[1] ?? (await keeping.lastFamily());
  const list = person && family && (await keeping.keptList(family));
  if (!list) {
    nothing("Nothing is kept here", "The list opens without signal once you have opened it with signal, signed in, on this device.");
    return null;
  }
  kept = list;
  put(family);
  if (!/^\/shopping\/?([0-9a-f-]{36}\/?)?$/.test(location.pathname)) {
    const box = nothing("This page needs signal", "The list works without.");
    box.querySelector(".empty").append(element("div", { class: "actions" }, element("a", { class: "button soft-button", href: home }, "To the list")));
    return null;
  }
  fresh = list.at;
  state = "no-signal";
  return list;
}

async function begin() {
  const text = document.getElementById("kept-list").content.textContent.trim();
  const served = text !== "";
  if (served) {
    kept = JSON.parse(text);
    await keeping.belongsTo(kept.person);
  } else if (!(await fromKept())) return;
  items = new Map(kept.items.map((item) => [item.shoppingItemId, item]));
  storeNames = new Map(kept.stores.map((each) => [each.storeId, each.name]));
  send = sender({ api: api(), family: kept.family.familyId, told, nameOf });
  if (served) await keeping.keepList(kept.family.familyId, { ...kept, at: fresh });
  if (!navigator.onLine) state = "no-signal";
  changes = await keeping.waitingChanges(kept.family.familyId);
  notices = await keeping.notices(kept.family.familyId);
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
