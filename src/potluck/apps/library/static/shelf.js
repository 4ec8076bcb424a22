// Updates the counts of a live shelf, and leaves the page when a guest has lost access.

import { maybe, one, setText } from "../../../web/static/js/kit/elements.js";
import { onChildren } from "../../../web/static/js/kit/events.js";
import { counted } from "../../../web/static/js/kit/words.js";

const list = one(document, "#shelf");
const items = one(document, "[data-items]");
const lent = maybe(document, "[data-lent]");

// Only if the whole shelf is on one page.
if (items.dataset.items)
  onChildren(list, () => {
    setText(items, counted(list.querySelectorAll("[data-kind=book], [data-kind=video]").length, "item"));
    const out = list.querySelectorAll("[data-kind]:where([data-lent])").length;
    if (lent) setText(lent, out ? `, ${out} lent` : "");
  });

list.addEventListener("potluck:over", () => location.replace("/library?over"));
