// Pieces of the page: made, filled, and told apart by what they are for.

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

export const root = document.getElementById("shopping");
export const part = (name) => root.querySelector(`[data-${name}]`);
export const time = (at) => clock.format(new Date(at));

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  made.append(...children.filter((each) => each !== null && each !== undefined && each !== ""));
  return made;
}

export const icon = (name) =>
  document.getElementById("icons").content.querySelector(`[data-icon="${name}"] > svg`).cloneNode(true);

export const things = (count) => `${count} ${count === 1 ? "thing" : "things"}`;

// What `act` comes to is where the thing is again: whoever pressed the button by key goes on from there.
export function toast(text, action = "", act = null) {
  const button = act && element("button", { type: "button" }, icon("undo-2"), action);
  const made = element("div", { class: "toast" }, element("p", {}, text), button);
  button?.addEventListener("click", async (event) => {
    made.remove();
    const there = await act();
    if (event.detail === 0) there?.focus();
  });
  document.getElementById("toasts").replaceChildren(made);
}

// Only what is another is written: a screen reader reads out whatever changes.
export function set(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
