// Adds buttons for less and more to a number field. It can still be typed into, and is kept within its bounds.
// A script that changes the field's value must dispatch "input" on it.

const number = (text, otherwise) => (text === "" || Number.isNaN(Number(text)) ? otherwise : Number(text));

function enhance(stepper) {
  const field = stepper.querySelector("input");
  const [less, more] = stepper.querySelectorAll("button");
  const least = number(field.min, -Infinity);
  const most = number(field.max, Infinity);
  const step = number(field.step, 1);
  let last = field.value;

  const set = (wanted, told = true) => {
    const value = Math.min(most, Math.max(least, wanted));
    const changed = String(value) !== last;
    field.value = last = String(value);
    // aria-disabled, not disabled: disabling the button that has the focus would lose the focus.
    less.setAttribute("aria-disabled", value <= least);
    more.setAttribute("aria-disabled", value >= most);
    if (changed && told) field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const value = () => number(field.value, number(last, 0));
  less.addEventListener("click", () => set(value() - step));
  more.addEventListener("click", () => set(value() + step));
  // Text that is not a number is replaced by the last value. A change made by this script is within the bounds already.
  field.addEventListener("change", (event) => {
    if (event.isTrusted) set(Math.round(value()), false);
  });
  stepper.addEventListener("keydown", (event) => {
    // In the field these keys move the caret.
    if (event.target === field && ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
    const wanted = {
      ArrowUp: value() + step, ArrowRight: value() + step, ArrowDown: value() - step, ArrowLeft: value() - step,
      PageUp: value() + 10 * step, PageDown: value() - 10 * step, Home: least, End: most,
    }[event.key];
    if (wanted === undefined || !Number.isFinite(wanted)) return;
    event.preventDefault();
    set(wanted);
  });
  // Typing is not corrected until it is finished: 15 begins with a 1.
  field.addEventListener("input", (event) => {
    if (!event.isTrusted) set(value(), false);
  });
  field.form?.addEventListener("reset", () => setTimeout(() => set(number(field.defaultValue, 0), false)));
  set(value(), false);
  stepper.dataset.stepper = "ready";
}

function enhanceAll(within) {
  for (const stepper of within.querySelectorAll('[data-stepper=""]')) enhance(stepper);
}

enhanceAll(document);
// Elements that are inserted later, by any script.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) enhanceAll(node.parentNode ?? node);
}).observe(document.body, { childList: true, subtree: true });
