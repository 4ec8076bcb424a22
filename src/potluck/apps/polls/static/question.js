// Enter in the question goes on to the options.

import { maybe, one } from "../../../web/static/js/kit/elements.js";

maybe(document, "#title", HTMLInputElement)?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  one(document, "#candidates").focus();
});
