// Shows below the box how the id is read, since any spelling will do.

import { contentOf, field, maybe, one } from "../../../web/static/js/kit/elements.js";

const form = one(document, "[data-opening]", HTMLFormElement);
const shown = one(form, "[data-read]");

/** @param {string} text */
function idIn(text) {
  const last = text.normalize("NFKC").toLowerCase().trim().split("/shareables/").at(-1)?.split(/[/?#]/)[0] ?? "";
  const parts = /^([a-z]{3})([a-z]{3})([0-9]{5})$/.exec(last.replace(/[^\p{L}\p{N}]+/gu, ""));
  return parts?.slice(1).join("-") ?? "";
}

function follow() {
  const id = idIn(field(form, "id").value);
  if ((maybe(shown, "b")?.textContent ?? "") === id) return;
  shown.replaceChildren();
  if (!id) return;
  shown.append(contentOf("reads-as"));
  one(shown, "b").textContent = id;
}

form.addEventListener("input", follow);
// Not below the error about it.
if (!field(form, "id").matches("[aria-invalid]")) follow();
