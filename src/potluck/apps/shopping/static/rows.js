// Rows of the list: made from the server's markup, and filled with an item's data.

import { amount } from "./changes.js";
import { set } from "./elements.js";
import { lingering, page, touched } from "./page.js";

function note(item) {
  const who =
    item.addedBy === page.kept.person.id
      ? "you"
      : item.addedByName === "Former member"
        ? "a former member"
        : item.addedByName.split(" ")[0];
  const bought = item.status === "purchased";
  const much = bought && item.quantity > 1 ? amount(item) : item.unit;
  return [much, item.notes, who].filter(Boolean).join(" · ");
}
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
  less.disabled = false;
  // aria-disabled, not disabled: disabling the button that has the focus would lose the focus.
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

// Makes `wanted` the children of an element, moving as few as possible.
export function arrange(place, wanted) {
  for (const each of [...place.children]) if (!wanted.includes(each)) each.remove();
  for (const [index, each] of wanted.entries())
    if (place.children[index] !== each) place.insertBefore(each, place.children[index] ?? null);
}

export const rows = new Map();

export function rowOf(item, waits) {
  const id = item.shoppingItemId;
  if (!rows.has(id)) rows.set(id, document.getElementById(`thing-${id}`) ?? blankRow(id));
  const row = rows.get(id);
  fill(row, item, waits);
  if (touched.delete(id)) {
    row.classList.remove("changed");
    // Restarts the highlight animation.
    void row.offsetWidth;
    row.classList.add("changed");
  }
  return row;
}

