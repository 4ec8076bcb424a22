// Helpers to create, fill and find elements of the page.

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

// `act` resolves to where the thing is afterwards, so that keyboard users continue from there.
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

// Writes only if the text differs, because a screen reader reads out every change.
export function set(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
