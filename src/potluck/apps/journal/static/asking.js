// Asking: shows the question at once, while the answer is on its way; a citation's number opens it.

const ask = document.querySelector("form[data-ask], form[data-begin]");
const field = ask.querySelector("[name=content]");
let sent = false;

ask.addEventListener("submit", (event) => {
  if (sent || !field.value.trim()) {
    event.preventDefault();
    field.focus();
    return;
  }
  sent = true;
  ask.setAttribute("aria-busy", true);
  const turns = document.querySelector("[data-turns]");
  if (!turns) return;
  const under = document.getElementById("under-way").content.cloneNode(true);
  under.querySelector(".mine p").textContent = field.value;
  turns.append(under);
  turns.lastElementChild.scrollIntoView({ block: "end" });
});
// Restored from the back/forward cache, it would still show the question as pending.
addEventListener("pageshow", (event) => event.persisted && location.reload());

document.addEventListener("click", (event) => {
  const example = event.target.closest("[data-example]");
  if (example) {
    field.value = example.textContent;
    field.focus();
  }
  const number = event.target.closest("a.ref");
  if (!number) return;
  const cited = document.querySelector(number.hash)?.querySelector("details");
  if (!cited) return;
  event.preventDefault();
  cited.open = true;
  cited.querySelector("summary").focus();
});
