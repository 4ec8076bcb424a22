// Live pages of an item, a collection or the loans: a list receives the events, and the elements around it are fetched
// again when an event concerns the page.
//
//   <ul hidden id="watch" data-live="…" data-watches="row-7" data-shelf="/library/3"> the row of this one thing </ul>
//   <ol id="watch" data-live="…" data-watches="row-7" data-all data-shelf="…"> that row, and others that also count </ol>
//
// Without data-watches, all rows count. If the item itself is deleted, its shelf is shown.

import { childrenOf, one } from "../../../web/static/js/kit/elements.js";
import { onChildren } from "../../../web/static/js/kit/events.js";
import { refresh } from "../../../web/static/js/kit/live.js";

const list = one(document, "#watch");
const { watches, shelf = "", all } = list.dataset;

function marks() {
  const rows = watches && all === undefined ? [document.getElementById(watches)] : childrenOf(list);
  return rows.map((row) => `${row?.id} ${row?.dataset.mark}`).join();
}
let shownMarks = marks();

onChildren(list, () => {
  if (watches && !document.getElementById(watches)) location.replace(shelf);
  else if (marks() !== shownMarks) {
    shownMarks = marks();
    refresh(list);
  }
});

list.addEventListener("potluck:over", () => location.replace("/library?over"));
