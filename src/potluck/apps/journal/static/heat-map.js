// The days of a heat map open in the timeline, by touch or keyboard. The drawing becomes an ARIA grid with a row for each
// weekday: one day can be tabbed to, arrows move on from there, and every day says its date and what was trained.
//
//   <div data-timeline="/journal/athletes/ID">   whose timeline it is; else one's own

import { all, childrenOf, maybe, one } from "../../../web/static/js/kit/elements.js";
import { on, onEach } from "../../../web/static/js/kit/events.js";

const timeline = maybe(document, "[data-timeline]")?.dataset.timeline ?? "/journal/entries";
const DAY = "[data-days] [data-day]";
/** In days. @type {Record<string, number>} */
const STEPS = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -7, ArrowRight: 7, PageUp: -28, PageDown: 28 };

/** @param {HTMLElement} cell */
const dayOf = (cell) => cell.dataset.day ?? "";
/** @param {Element} drawing */
const cellsOf = (drawing) => all(drawing, "[data-day]").sort((one, other) => (dayOf(one) < dayOf(other) ? -1 : 1));
/** @param {HTMLElement} cell */
const open = (cell) => location.assign(`${timeline}?from=${dayOf(cell)}&to=${dayOf(cell)}`);

// Live updates replace the drawing.
onEach("[data-days]", (drawing) => {
  const cells = cellsOf(drawing);
  const grid = cells[0]?.parentElement?.parentElement;
  if (!grid || grid.hasAttribute("role")) return;
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-label", drawing.getAttribute("aria-label") ?? "");
  drawing.removeAttribute("aria-label");
  drawing.setAttribute("role", "presentation");
  for (const row of childrenOf(grid)) row.setAttribute("role", "row");
  for (const cell of cells) {
    cell.setAttribute("role", "gridcell");
    cell.setAttribute("aria-label", one(cell, "title").textContent ?? "");
    cell.setAttribute("tabindex", "-1");
  }
  cells.at(-1)?.setAttribute("tabindex", "0");
});

/** @param {HTMLElement} cell @param {HTMLElement | undefined} next */
function stepTo(cell, next) {
  if (!next) return;
  cell.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

on(document, "click", DAY, open);

on(document, "keydown", DAY, (cell, event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const cells = cellsOf(/** @type {Element} */ (cell.closest("[data-days]")));
  if (event.key === "Enter" || event.key === " ") open(cell);
  else if (event.key === "Home") stepTo(cell, cells[0]);
  else if (event.key === "End") stepTo(cell, cells.at(-1));
  else if (event.key in STEPS) stepTo(cell, cells[cells.indexOf(cell) + STEPS[event.key]]);
  else return;
  event.preventDefault();
});
