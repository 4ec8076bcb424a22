// Updates the counts of a live shelf, and leaves the page when a guest has lost access.

import { maybe, one, setText } from "../../../web/static/js/kit/elements.js";
import { onChildren } from "../../../web/static/js/kit/events.js";
import { ngettext } from "../../../web/static/js/kit/words.js";

const list = one(document, "#shelf");
const items = one(document, "[data-items]");
const lent = maybe(document, "[data-lent]");

// Only if the whole shelf is on one page.
if (items.dataset.items)
  onChildren(list, () => {
    setText(
      items,
      ngettext("%(num)s item", "%(num)s items", list.querySelectorAll("[data-kind=book], [data-kind=video]").length),
    );
    const out = list.querySelectorAll("[data-kind]:where([data-lent])").length;
    if (!lent) return;
    lent.hidden = !out;
    setText(lent, ngettext("%(num)s lent", "%(num)s lent", out));
  });

list.addEventListener("potluck:over", () => location.replace("/library?over"));
