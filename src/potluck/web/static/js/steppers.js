// A number field gets less and more beside it. It can be typed as before, and is held to its bounds.
// A script that gives the field another value says so to it by "input".

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
    // aria-disabled, not disabled: a button that vanishes under the finger takes the focus with it.
    less.setAttribute("aria-disabled", value <= least);
    more.setAttribute("aria-disabled", value >= most);
    if (changed && told) field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const value = () => number(field.value, number(last, 0));
  less.addEventListener("click", () => set(value() - step));
  more.addEventListener("click", () => set(value() + step));
  // What is no number, or none at all, is what it was before. A change that was made here is within the bounds already.
  field.addEventListener("change", (event) => {
    if (event.isTrusted) set(Math.round(value()), false);
  });
  stepper.addEventListener("keydown", (event) => {
    // In the field these go along the digits.
    if (event.target === field && ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
    const wanted = {
      ArrowUp: value() + step, ArrowRight: value() + step, ArrowDown: value() - step, ArrowLeft: value() - step,
      PageUp: value() + 10 * step, PageDown: value() - 10 * step, Home: least, End: most,
    }[event.key];
    if (wanted === undefined || !Number.isFinite(wanted)) return;
    event.preventDefault();
    set(wanted);
  });
  // What is being typed is let alone until it is done: on the way to 15 stands a 1.
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
// What arrives later, by whatever way it comes.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) enhanceAll(node.parentNode ?? node);
}).observe(document.body, { childList: true, subtree: true });
