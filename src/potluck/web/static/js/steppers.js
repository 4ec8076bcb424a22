// Adds buttons for less and more to a number field. It can still be typed into, and is kept within its bounds.
// A script that changes the field's value must dispatch "input" on it.

import { all, enable, one } from "./kit/elements.js";
import { onEach } from "./kit/events.js";

/** @param {string} text @param {number} otherwise */
const number = (text, otherwise) => (text === "" || Number.isNaN(Number(text)) ? otherwise : Number(text));

onEach('[data-stepper=""]', (stepper) => {
  const field = one(stepper, "input", HTMLInputElement);
  const [less, more] = all(stepper, "button");
  const least = number(field.min, -Infinity);
  const most = number(field.max, Infinity);
  const step = number(field.step, 1);
  let last = field.value;

  /** @param {number} wanted */
  function set(wanted, isReported = true) {
    const value = Math.min(most, Math.max(least, wanted));
    const changed = String(value) !== last;
    last = String(value);
    field.value = last;
    enable(less, value > least);
    enable(more, value < most);
    if (changed && isReported) field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  const value = () => number(field.value, number(last, 0));
  less.addEventListener("click", () => set(value() - step));
  more.addEventListener("click", () => set(value() + step));
  // Text that is not a number is replaced by the last value. A change made by this script is within the bounds already.
  field.addEventListener("change", (event) => event.isTrusted && set(Math.round(value()), false));
  stepper.addEventListener("keydown", (event) => {
    // In the field these keys move the caret.
    if (event.target === field && ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
    /** @type {Record<string, number>} */
    const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };
    const wanted = { Home: least, End: most }[event.key] ?? value() + steps[event.key] * step;
    if (!Number.isFinite(wanted)) return;
    event.preventDefault();
    set(wanted);
  });
  // Typing is not corrected until it is finished: 15 begins with a 1.
  field.addEventListener("input", (event) => !event.isTrusted && set(value(), false));
  field.form?.addEventListener("reset", () => setTimeout(() => set(number(field.defaultValue, 0), false)));
  set(value(), false);
  stepper.dataset.stepper = "ready";
});
