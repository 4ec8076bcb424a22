// Toasts: they disappear after eight seconds, but not while they have the pointer or the focus. The server may have put one
// into the page.

import { element } from "./elements.js";
import { on, onEach } from "./events.js";

const STAYS = 8000;

/**
 * Shows a toast, one at a time: people wait for the newest.
 * @param {string} text
 * @param {Node | null} [button]
 */
export function toast(text, button = null) {
  const box = element("div", { class: "toast" }, element("p", {}, text), button);
  document.getElementById("toasts")?.replaceChildren(box);
  return box;
}

/** @param {HTMLElement} shown */
function attend(shown) {
  let timer = 0;
  let pointed = false;
  const leave = () => {
    shown.classList.add("leaving");
    const gone = () => shown.remove();
    shown.addEventListener("transitionend", gone, { once: true });
    setTimeout(gone, 400);
  };
  const wait = () => {
    clearTimeout(timer);
    if (!pointed && !shown.contains(document.activeElement)) timer = setTimeout(leave, STAYS);
  };
  // A finger is a pointer too: it enters when it touches, and leaves when it is lifted.
  for (const type of ["pointerenter", "pointerleave"])
    shown.addEventListener(type, () => {
      pointed = type === "pointerenter";
      wait();
    });
  shown.addEventListener("focusin", wait);
  // After the focus has moved on.
  shown.addEventListener("focusout", () => setTimeout(wait));
  shown.addEventListener("keydown", (event) => event.key === "Escape" && shown.remove());
  wait();
}

onEach("#toasts > .toast", attend);

// A button may show a toast that the page has prepared in a template.
on(document, "click", "[data-toast]", ({ dataset }) => {
  const ready = document.getElementById(dataset.toast ?? "");
  if (ready instanceof HTMLTemplateElement)
    document.getElementById("toasts")?.replaceChildren(ready.content.cloneNode(true));
});
