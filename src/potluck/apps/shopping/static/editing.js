// Editing an item, in a dialog above the list.

import { FIELDS } from "./changes.js";
import { make, putBack } from "./doing.js";
import { element, set, toast } from "./elements.js";
import { page } from "./page.js";
import { rows } from "./rows.js";

const LONGEST_NAME = 100;

export const dialog = document.getElementById("editing");
let editing = null;

export function openEditor(id) {
  const item = page.shown.get(id);
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
    ...page.kept.stores.map(({ storeId: value, name: called }) =>
      element("option", { value, selected: value === item.storeId }, called),
    ),
  );
  form.reset();
  dialog.querySelector("[data-wrong]").hidden = true;
  dialog.showModal();
}

export async function saveEdit(form) {
  const text = (field) => form.elements[field].value.trim();
  const wanted = {
    name: text("name"),
    storeId: text("storeId") || null,
    quantity: Number(text("quantity")),
    unit: text("unit") || null,
    notes: text("notes") || null,
  };
  const wrong = dialog.querySelector("[data-wrong]");
  if (!wanted.name || [...wanted.name].length > LONGEST_NAME) {
    set(wrong.querySelector("span"), "It needs a name of up to 100 characters.");
    wrong.hidden = false;
    form.elements.name.focus();
    return;
  }
  const item = editing;
  // No quantity means one; it stays unset until somebody changes it.
  const before = Object.fromEntries(FIELDS.map((field) => [field, item[field] ?? null]));
  if (before.quantity === null && wanted.quantity === 1) wanted.quantity = null;
  const differing = FIELDS.filter((field) => wanted[field] !== before[field]);
  dialog.close();
  if (differing.length === 0) return;
  const only = (values) => Object.fromEntries(differing.map((field) => [field, values[field]]));
  await make("edit", item.shoppingItemId, { values: only(wanted), before: only(before), seen: item.version });
}

export async function takeOff() {
  const item = editing;
  dialog.close();
  if (!(await make("delete", item.shoppingItemId, { seen: item.version }))) return;
  toast(`${item.name} is off the list.`, "Undo", async () => {
    await putBack(item);
    return document.getElementById("add");
  });
  document.getElementById("add").focus({ preventScroll: true });
}

dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
dialog.addEventListener("close", () => {
  rows.get(editing?.shoppingItemId)?.querySelector(".thing-more")?.focus({ preventScroll: true });
});
