// The buttons next to password fields that show what was typed.

import { all, one } from "./kit/elements.js";
import { on } from "./kit/events.js";

/** @param {HTMLElement} button @param {boolean} shown */
function show(button, shown) {
  one(document, `#${button.dataset.shows}`, HTMLInputElement).type = shown ? "text" : "password";
  button.setAttribute("aria-pressed", String(shown));
}

on(document, "click", "[data-shows]", (button) => show(button, button.getAttribute("aria-pressed") === "false"));

// Browsers keep what was typed into text fields, to offer it again.
on(document, "submit", "form", (form) => {
  for (const button of all(form, "[data-shows]")) show(button, false);
});
