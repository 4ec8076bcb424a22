// Live pages of an item, a collection or the loans: a list receives the events, and the elements beside it are fetched again
// when an event concerns what the page shows.
//
//   <ul hidden id="watch" data-live="…" data-watches="row-7" data-shelf="/library/3"> the row of this one thing </ul>
//   <ol id="watch" data-live="…" data-watches="row-7" data-all data-shelf="…"> that row, and others that also count </ol>
//
// Without data-watches, all rows count. If the thing itself is deleted, its shelf is shown.

const list = document.getElementById("watch");
const { watches, shelf } = list.dataset;

const marks = () => {
  const rows = watches && !("all" in list.dataset) ? [document.getElementById(watches)] : [...list.children];
  return rows.map((row) => `${row?.id} ${row?.dataset.mark}`).join();
};
let seen = marks();

new MutationObserver(() => {
  if (watches && !document.getElementById(watches)) location.replace(shelf);
  else if (marks() !== seen) {
    seen = marks();
    list.dispatchEvent(new Event("potluck:refresh", { bubbles: true }));
  }
}).observe(list, { childList: true });

list.addEventListener("potluck:over", () => location.replace("/library?over"));
