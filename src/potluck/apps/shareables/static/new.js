// Creating one: rows, a new one with each Enter, in place of one large field. That field is still what is sent.

const part = document.querySelector("[data-lines]");
const area = part.querySelector("textarea");
const list = part.querySelector("[data-rows]");
const next = part.querySelector("[data-next]");
const field = next.querySelector("input");
const ready = document.getElementById("line");
let number = 0;

const valueOf = (row) => row.querySelector("input").value;

function follow() {
  area.value = [...list.children].map(valueOf).concat(field.value).filter((line) => line.trim()).join("\n");
  list.hidden = list.children.length === 0;
  [...list.children].forEach((row, place) => {
    row.querySelector("input").setAttribute("aria-label", `Number ${place + 1}`);
    row.querySelector("[data-take]").setAttribute("aria-label", `Remove ${valueOf(row)}`);
  });
}

function add(text) {
  for (const line of text.split("\n").map((each) => each.trim()).filter(Boolean)) {
    const row = ready.content.firstElementChild.cloneNode(true);
    row.id = `line-${(number += 1)}`;
    row.querySelector("input").value = line;
    list.append(row);
  }
  follow();
}

function take(row) {
  const neighbour = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  follow();
  (neighbour?.querySelector("[data-take]") ?? field).focus();
}

const typed = area.value;
area.hidden = true;
next.hidden = false;
part.querySelector("label").htmlFor = field.id;
list.addEventListener("potluck:moved", follow);
add(typed);

function addTyped() {
  const text = field.value;
  field.value = "";
  add(text);
  field.focus();
}

// Enter in the name goes on to the items.
area.form.elements.name.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  field.focus();
});
next.querySelector("button").addEventListener("click", addTyped);
field.addEventListener("input", follow);
part.addEventListener("keydown", (event) => {
  if (event.key === "Backspace" && event.target.matches(".bare-input") && event.target.value === "") {
    event.preventDefault();
    take(event.target.closest("li"));
  }
  // Enter adds a row here instead of submitting the form.
  if (event.key !== "Enter" || event.isComposing || !event.target.matches("input")) return;
  event.preventDefault();
  if (event.target === field) addTyped();
  else (event.target.closest("li").nextElementSibling?.querySelector("input") ?? field).focus();
});
part.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text");
  if (event.target !== field || !text.trim().includes("\n")) return;
  event.preventDefault();
  add(field.value + text);
  field.value = "";
  follow();
});
list.addEventListener("input", follow);
list.addEventListener("click", (event) => {
  if (event.target.closest("[data-take]")) take(event.target.closest("li"));
});
