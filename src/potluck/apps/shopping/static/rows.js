// Rows of the list: made from the server's markup, and filled with an item's data.

import { all, enable, one, setText, stamp } from "../../../web/static/js/kit/elements.js";
import { _, numbered } from "../../../web/static/js/kit/words.js";
import { amount } from "./changes.js";
import { lingering, list, touched } from "./state.js";

/** @typedef {import("./changes.js").Item} Item */

/** @param {Item} item */
function note(item) {
  const who =
    item.addedBy === list().person.id
      ? _("you")
      : item.addedByName === "Former member"
        ? _("a former member")
        : item.addedByName.split(" ")[0];
  const much = item.status === "purchased" && item.quantity > 1 ? amount(item) : item.unit;
  return [much, item.notes, who].filter(Boolean).join(" · ");
}

/** @param {string} id */
function blankRow(id) {
  const row = stamp("row");
  for (const element of [row, ...all(row, "[id], [action], [href], [aria-labelledby]")])
    for (const name of ["id", "action", "href", "aria-labelledby", "aria-describedby"]) {
      const value = element.getAttribute(name);
      if (value === null) continue;
      const isAddress = name === "action" || name === "href";
      element.setAttribute(name, isAddress ? value.replace("/list/", `/list/${id}`) : `${value}${id}`);
    }
  row.dataset.id = id;
  return row;
}

/** @param {HTMLElement} row @param {Item} item @param {boolean} waits */
function fill(row, item, waits) {
  const { name } = item;
  const isTicked = item.status === "purchased";
  const tick = one(row, '[role="checkbox"]', HTMLButtonElement);
  row.classList.toggle("ticked", isTicked);
  row.classList.toggle("waiting", waits);
  tick.setAttribute("aria-checked", String(isTicked));
  tick.value = isTicked ? "pending" : "purchased";
  setText(one(row, '[data-part="name"]'), name);
  setText(one(row, '[data-part="note"]'), note(item));
  one(row, '[data-part="waits"]').hidden = !waits;
  const quantity = item.quantity ?? 1;
  setText(one(row, '[data-part="quantity"]'), numbered(quantity));
  const [less, more] = all(row, ".stepper button", HTMLButtonElement);
  less.value = String(quantity - 1);
  more.value = String(quantity + 1);
  less.disabled = false;
  enable(less, quantity > 1);
  one(row, ".stepper").setAttribute("aria-label", _("Quantity of %(name)s", { name }));
  for (const field of all(row, '[name="version"]', HTMLInputElement)) field.value = String(item.version);
  one(row, ".thing-count").hidden = isTicked;
  one(row, ".thing-more").hidden = isTicked;
  one(row, ".thing-more").setAttribute("aria-label", _("Edit %(name)s", { name }));
  const restock = one(row, ".thing-restock");
  restock.hidden = !(isTicked && item.itemId && !item.restockedAt && !lingering.has(item.shoppingItemId));
  one(restock, "button").setAttribute("aria-label", _("Restock %(name)s", { name }));
}

// Makes `wanted` the children of an element, moving as few as possible.
/** @param {Element} place @param {Element[]} wanted */
export function arrange(place, wanted) {
  for (const child of [...place.children]) if (!wanted.includes(child)) child.remove();
  for (const [index, child] of wanted.entries())
    if (place.children[index] !== child) place.insertBefore(child, place.children[index] ?? null);
}

/** By the id of their item. @type {Map<string, HTMLElement>} */
export const rows = new Map();

/** @param {Item} item @param {boolean} waits */
export function rowOf(item, waits) {
  const id = item.shoppingItemId;
  const row = rows.get(id) ?? document.getElementById(`thing-${id}`) ?? blankRow(id);
  rows.set(id, row);
  fill(row, item, waits);
  if (touched.delete(id)) {
    row.classList.remove("changed");
    // Restarts the highlight animation.
    void row.offsetWidth;
    row.classList.add("changed");
  }
  return row;
}
