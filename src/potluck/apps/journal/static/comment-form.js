// Writing a comment, or changing one: what is typed is kept as a draft.
//
//   <form data-comment-draft="comment-ID" data-draft-key="…">   data-comment-draft="comment-ID:VERSION" for a change
//   data-draft-refused                                         the form holds what was just sent

import { field, one } from "../../../web/static/js/kit/elements.js";
import { keepDraft } from "./drafts.js";

const form = one(document, "[data-comment-draft]", HTMLFormElement);
const body = field(form, "body");

const save = await keepDraft(form, form.dataset.commentDraft ?? "", {
  values: () => [["body", body.value]],
  fill([[, text]]) {
    body.value = text;
  },
});

form.addEventListener("input", save);
