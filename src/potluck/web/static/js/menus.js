// Menus that overlay the page: Escape, a tap elsewhere, and moving the focus out of them close them.

const CONTROLS = "a, button, input, label, select, summary, textarea";

const open = () => document.querySelectorAll("details.switch[open]");

function close(menu, back) {
  menu.open = false;
  if (back) menu.querySelector("summary").focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const menu of open()) close(menu, true);
});

document.addEventListener("keyup", (event) => {
  if (event.key !== "Tab") return;
  for (const menu of open()) if (!menu.contains(document.activeElement)) close(menu, false);
});

document.addEventListener("click", (event) => {
  // A control that was tapped instead keeps its focus.
  for (const menu of open()) if (!menu.contains(event.target)) close(menu, !event.target.closest(CONTROLS));
});
