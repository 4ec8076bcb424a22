// Shows below the box how the id is read, since any spelling will do.

const form = document.querySelector("[data-opening]");
const said = form.querySelector("[data-read]");
const ready = document.getElementById("reads-as");

function read(text) {
  const last = text.normalize("NFKC").toLowerCase().trim().split("/shareables/").at(-1).split(/[/?#]/)[0];
  const found = /^([a-z]{3})([a-z]{3})([0-9]{5})$/.exec(last.replace(/[^\p{L}\p{N}]+/gu, ""));
  return found?.slice(1).join("-") ?? "";
}

function follow() {
  const id = read(form.elements.id.value);
  if ((said.querySelector("b")?.textContent ?? "") === id) return;
  said.replaceChildren();
  if (!id) return;
  said.append(ready.content.cloneNode(true));
  said.querySelector("b").textContent = id;
}

form.addEventListener("input", follow);
follow();
