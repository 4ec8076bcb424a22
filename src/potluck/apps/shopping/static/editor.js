// Editing an item, in a dialog above the list.

import { element, field, maybe, one, setText } from "../../../web/static/js/kit/elements.js";
import { _ } from "../../../web/static/js/kit/words.js";
import { addBox, LONGEST_NAME, make, putBack, tooLong } from "./actions.js";
import { FIELDS } from "./changes.js";
import { undoable } from "./elements.js";
import { rows } from "./rows.js";
import { list, page } from "./state.js";

export const dialog = one(document, "#editing", HTMLDialogElement);
const form = one(dialog, "form", HTMLFormElement);
const wrong = one(dialog, "[data-wrong]");
/** @type {import("./changes.js").Item | null} */
let editing = null;

/** @param {string} id */
export function openEditor(id) {
  const item = page.shown.get(id);
  if (!item) return;
  editing = item;
  setText(one(dialog, "h2"), _("Edit %(name)s", { name: item.name }));
  const quantity = String(item.quantity ?? 1);
  field(form, "name").defaultValue = item.name;
  field(form, "quantity").defaultValue = quantity;
  field(form, "quantity").value = quantity;
  field(form, "unit").defaultValue = item.unit ?? "";
  field(form, "notes").defaultValue = item.notes ?? "";
  field(form, "storeId").replaceChildren(
    element("option", { value: "" }, _("Any store")),
    ...list().stores.map(({ storeId: value, name }) =>
      element("option", { value, selected: value === item.storeId }, name),
    ),
  );
  form.reset();
  wrong.hidden = true;
  dialog.showModal();
}

export async function saveEdit() {
  if (!editing) return;
  const item = editing;
  /** @param {string} name */
  const text = (name) => field(form, name).value.trim();
  /** @type {Record<string, string | number | null>} */
  const wanted = {
    name: text("name"),
    storeId: text("storeId") || null,
    quantity: Number(text("quantity")),
    unit: text("unit") || null,
    notes: text("notes") || null,
  };
  const length = [...text("name")].length;
  if (length < 1 || length > LONGEST_NAME) {
    setText(one(wrong, "span"), length < 1 ? _("Please enter a name.") : tooLong());
    wrong.hidden = false;
    field(form, "name").focus();
    return;
  }
  // No quantity means one; it stays unset until it is changed.
  const before = Object.fromEntries(FIELDS.map((name) => [name, item[name] ?? null]));
  if (before.quantity === null && wanted.quantity === 1) wanted.quantity = null;
  const differing = FIELDS.filter((name) => wanted[name] !== before[name]);
  dialog.close();
  if (differing.length === 0) return;
  /** @param {Record<string, any>} values */
  const only = (values) => Object.fromEntries(differing.map((name) => [name, values[name]]));
  await make("edit", item.shoppingItemId, { values: only(wanted), before: only(before), seen: item.version });
}

export async function takeOff() {
  if (!editing) return;
  const item = editing;
  dialog.close();
  if (!(await make("delete", item.shoppingItemId, { seen: item.version }))) return;
  undoable(_("%(name)s removed", { name: item.name }), async () => {
    await putBack(item);
    return addBox;
  });
  addBox.focus({ preventScroll: true });
}

dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
dialog.addEventListener("close", () => {
  const row = rows.get(editing?.shoppingItemId ?? "");
  if (row) maybe(row, ".thing-more")?.focus({ preventScroll: true });
});
