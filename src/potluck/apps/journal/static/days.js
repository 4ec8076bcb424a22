// The days of a heat map open in the timeline, by touch or keyboard. The drawing becomes an ARIA grid with a row for each
// weekday: one day can be tabbed to, arrows move on from there, and every day says its date and what was trained.
//
//   <div data-timeline="/journal/athletes/ID">   whose timeline it is; else one's own

const timeline = document.querySelector("[data-timeline]")?.dataset.timeline ?? "/journal/entries";
const DAY = "[data-days] [data-day]";
// In days.
const STEPS = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -7, ArrowRight: 7, PageUp: -28, PageDown: 28 };

const daysOf = (drawing) => [...drawing.querySelectorAll("[data-day]")].sort((one, other) => (one.dataset.day < other.dataset.day ? -1 : 1));

function open(day) {
  location.assign(`${timeline}?from=${day}&to=${day}`);
}

function makeGrid(drawing) {
  const days = daysOf(drawing);
  const grid = days[0]?.parentElement.parentElement;
  if (!grid || grid.hasAttribute("role")) return;
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-label", drawing.getAttribute("aria-label"));
  drawing.removeAttribute("aria-label");
  drawing.setAttribute("role", "presentation");
  for (const row of grid.children) row.setAttribute("role", "row");
  for (const day of days) {
    day.setAttribute("role", "gridcell");
    day.setAttribute("aria-label", day.querySelector("title").textContent);
    day.setAttribute("tabindex", "-1");
  }
  days.at(-1).setAttribute("tabindex", "0");
}

function stepTo(day, next) {
  if (!next) return;
  day.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

document.addEventListener("click", (event) => {
  const { day } = event.target.closest(DAY)?.dataset ?? {};
  if (day) open(day);
});

document.addEventListener("keydown", (event) => {
  const day = event.target.closest?.(DAY);
  if (!day || event.ctrlKey || event.altKey || event.metaKey) return;
  const days = daysOf(day.closest("[data-days]"));
  if (event.key === "Enter" || event.key === " ") open(day.dataset.day);
  else if (event.key === "Home") stepTo(day, days[0]);
  else if (event.key === "End") stepTo(day, days.at(-1));
  else if (event.key in STEPS) stepTo(day, days[days.indexOf(day) + STEPS[event.key]]);
  else return;
  event.preventDefault();
});

const makeGrids = () => document.querySelectorAll("[data-days]").forEach(makeGrid);
makeGrids();
// Live updates replace the drawing.
new MutationObserver(makeGrids).observe(document.querySelector("main"), { childList: true, subtree: true });
