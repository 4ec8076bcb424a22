// What people do on the list: each change is shown, stored, and sent as soon as the server can be reached.

import { UNDER_WAY } from "./banner.js";
import { FIELDS, amount } from "./changes.js";
import { draw } from "./drawing.js";
import { element, icon, part, root, things, toast } from "./elements.js";
import * as keeping from "./keeping.js";
import { fold, readLines } from "./lines.js";
import { api, lingering, page } from "./page.js";
import { changed, deliver, told } from "./reaching.js";
import { rows } from "./rows.js";
import { NoSignal, asked, newId } from "./sending.js";

// How long, in milliseconds, a ticked row stays where it was.
const LINGERS = 450;
const LONGEST_NAME = 100;
const MOST_LINES = 50;

const still = matchMedia("(prefers-reduced-motion: reduce)");
const channel = "BroadcastChannel" in window ? new BroadcastChannel("potluck-shopping") : null;

// Another window of this browser changed something, sent it, or resolved a conflict.
channel?.addEventListener("message", () => page.kept && reread());

export const announce = () => channel?.postMessage("changed");

// Reads the store again; `kept` is the change that was stored meanwhile.
export async function reread(kept = null) {
  const changes = await keeping.waitingChanges(page.kept.family.familyId);
  const notices = await keeping.notices(page.kept.family.familyId);
  page.changes = changes;
  page.notices = notices;
  page.unkept.delete(kept);
  draw();
}

// Shows a change, stores it and sends it; resolves to whether it could be stored.
export async function make(kind, id, details) {
  const change = {
    family: page.kept.family.familyId,
    person: page.kept.person.id,
    kind,
    id,
    was: page.shown.get(id) ?? null,
    key: newId(),
    seen: null,
    sent: false,
    at: Date.now(),
    values: {},
    before: {},
    ...details,
  };
  page.unkept.add(change);
  draw();
  try {
    await keeping.addChange(change);
  } catch (error) {
    page.unkept.delete(change);
    draw();
    // If somebody else is signed in by now, show their page. If nothing can be stored at all, the forms take over.
    if (error instanceof keeping.SomebodyElse) location.reload();
    else if (!(error instanceof keeping.NotOpened) || "ready" in root.dataset)
      toast("There is no room left on this device to keep that. Nothing is changed.");
    return false;
  }
  await reread(change);
  announce();
  setTimeout(draw, UNDER_WAY + 50);
  setTimeout(draw, 2 * UNDER_WAY + 50);
  deliver();
  return true;
}

// Drops fields without a value.
const said = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value != null));

function add({ name, quantity, unit, ...others }) {
  const known = page.kept.suggestions.find((each) => fold(each.name) === fold(name));
  const store = page.filter && page.filter !== "unassigned" ? page.filter : null;
  const values = { quantity, unit, storeId: store, ...others };
  const seen = { name: known?.name ?? name, unit: unit ?? known?.unit ?? null, storeId: store ?? known?.storeId ?? null };
  if (known?.itemId) values.itemId = known.itemId;
  else {
    values.name = name;
    values.storeId ??= known?.storeId ?? null;
    values.unit ??= known?.unit ?? null;
  }
  return make("add", newId(), { values: said(values), shown: seen });
}

// Adds what was on the list again, as a new item.
export function putBack(item) {
  const values = Object.fromEntries([...FIELDS, "itemId"].map((field) => [field, item[field]]));
  return make("add", newId(), { values: said(values), shown: {} });
}

// Validates at once, so that the box is free for the next: null if invalid, else a promise of the outcome.
export function addTyped(text) {
  const lines = readLines(text);
  const field = document.getElementById("add");
  document.getElementById("add-error")?.remove();
  field.removeAttribute("aria-invalid");
  const wrong = lines.some((each) => [...each.name].length > LONGEST_NAME)
    ? `One line can have ${LONGEST_NAME} characters. The rest can be a note.`
    : lines.length > MOST_LINES
      ? `${MOST_LINES} lines at a time, please.`
      : "";
  if (wrong) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", "add-error");
    document
      .getElementById("adding")
      .append(
        element("p", { class: "error", id: "add-error", role: "alert" }, icon("triangle-alert"), element("span", {}, wrong)),
      );
    return null;
  }
  field.value = "";
  return addAll(lines, field);
}

const typed = ({ quantity, unit, name }) => [quantity, unit, name].filter(Boolean).join(" ");

// Resolves to whether all of them could be stored.
export async function addAll(lines, field) {
  // All at once: each is shown before it is stored, so that the next one finds it on the list.
  const kept = await Promise.all(lines.map(addOne));
  const left = lines.filter((_, index) => kept[index] === false).map(typed);
  // What could not be stored goes back into the box, to be sent by the form.
  if (left.length) field.value = [...left, field.value].filter(Boolean).join("\n");
  else if (lines.length > 1) {
    // Duplicates are not counted: a question about them is shown.
    const added = kept.filter((each) => each !== ASKED).length;
    if (added) toast(`${things(added)} ${added === 1 ? "is" : "are"} on the list.`);
  }
  return left.length === 0;
}

// Neither stored nor refused: the person is asked what they mean.
const ASKED = "asked";

async function addOne(line) {
  const called = (each) => fold(each.name) === fold(line.name);
  const existing = [...page.shown.values()].find((item) => item.status === "pending" && called(item));
  if (!existing) return add(line);
  const itemId = page.kept.suggestions.find(called)?.itemId;
  const change = { values: said({ ...line, ...(itemId && { itemId, name: null }) }), shown: { name: line.name } };
  try {
    await keeping.addNotice(page.kept.family.familyId, page.kept.person.id, { kind: "duplicate", existing, change });
  } catch {
    return false;
  }
  await reread();
  announce();
  part("notices").lastElementChild?.scrollIntoView({ block: "nearest" });
  part("notices").lastElementChild?.querySelector("button")?.focus();
  return ASKED;
}

// Where the focus goes when its row leaves.
function beside(row) {
  const all = [...part("groups").querySelectorAll('[role="checkbox"]')];
  const index = all.indexOf(row.querySelector('[role="checkbox"]'));
  return all[index + 1] ?? all[index - 1] ?? document.getElementById("add");
}

export async function tick(id, status) {
  const item = page.shown.get(id);
  if (!item) return;
  const row = rows.get(id);
  if (status === "purchased") {
    const next = row?.contains(document.activeElement) ? beside(row) : null;
    lingering.add(id);
    setTimeout(
      () => {
        lingering.delete(id);
        const had = row?.contains(document.activeElement);
        draw();
        if (had) next?.focus({ preventScroll: true });
      },
      still.matches ? 0 : LINGERS,
    );
    toast(`${item.name} is in the basket.`, "Undo", async () => {
      await tick(id, "pending");
      return rows.get(id)?.querySelector('[role="checkbox"]');
    });
  } else lingering.delete(id);
  return make("status", id, { values: { status }, before: { status: item.status }, seen: item.version });
}

export async function count(id, quantity) {
  const item = page.shown.get(id);
  if (!item || quantity < 1 || quantity > 100_000 || quantity === (item.quantity ?? 1)) return;
  return make("edit", id, { values: { quantity }, before: { quantity: item.quantity }, seen: item.version });
}

// Requests that only the server can handle.
async function ask(address, body = {}) {
  try {
    const answer = await asked(`${api()}/${address}`, {
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

export async function restock(id) {
  const item = page.shown.get(id);
  const answer = await ask(`shopping-list/${id}/restock`);
  if (!answer) return;
  told("updated", answer.shoppingItem);
  toast(`${item.name} is put away. ${amount(answer.inventoryItem)} at home.`);
}

export async function clear() {
  const answer = await ask("shopping-list/clear-purchased");
  if (!answer) return;
  for (const item of [...page.items.values()]) if (item.status === "purchased") page.items.delete(item.shoppingItemId);
  changed();
  document.getElementById("add").focus({ preventScroll: true });
  if (answer.undoToken)
    toast(`${things(answer.cleared)} cleared.`, "Undo", async () => {
      const back = await ask("undo", { undoToken: answer.undoToken });
      for (const item of back?.items ?? []) page.items.set(item.shoppingItemId, item);
      if (back) changed();
      return part("purchased").querySelector("summary");
    });
}
