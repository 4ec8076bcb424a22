// Menus that overlay the page: Escape, a tap elsewhere, and moving the focus out of them close them.

import { all, one } from "./kit/elements.js";

const CONTROLS = "a, button, input, label, select, summary, textarea";

const openMenus = () => all(document, "details[data-menu][open]", HTMLDetailsElement);

/** @param {HTMLDetailsElement} menu @param {boolean} back */
function close(menu, back) {
  menu.open = false;
  if (back) one(menu, "summary").focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const menu of openMenus()) close(menu, true);
});

document.addEventListener("keyup", (event) => {
  if (event.key !== "Tab") return;
  for (const menu of openMenus()) if (!menu.contains(document.activeElement)) close(menu, false);
});

document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  // A control that was tapped instead keeps its focus.
  for (const menu of openMenus()) if (!menu.contains(target)) close(menu, !target.closest(CONTROLS));
});
