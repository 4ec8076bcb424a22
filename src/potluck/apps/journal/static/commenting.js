// Writing a comment, or changing one: what is typed is kept as a draft.
//
//   <form data-comment-draft="comment-ID" data-draft-key="…">   data-comment-draft="comment-ID:VERSION" for a change
//   data-draft-refused                                         the form holds what was just sent

import { drafted, drop } from "./drafts.js";

const form = document.querySelector("[data-comment-draft]");
const { body } = form.elements;
const [name, version = ""] = form.dataset.commentDraft.split(":");

const save = await drafted({
  name,
  version,
  key: form.dataset.draftKey,
  refused: form.dataset.draftRefused !== undefined,
  filledIn: () => [["body", body.value]],
  fill: ([[, text]]) => (body.value = text),
  said: form.querySelector("[data-draft-said]"),
  older(onto) {
    form.elements.version.value = onto;
    // What that version said is not known here.
    form.elements.base.value = "";
  },
});

form.addEventListener("input", save);
document.querySelector("[data-discard]")?.addEventListener("click", () => drop(name));
