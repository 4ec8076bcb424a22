// One book or video, while one looks at it: what changes on its shelf is heard, and what is about it is read again.

const list = document.getElementById("watch");
const { watches, shelf } = list.dataset;

new MutationObserver(() => {
  const row = document.getElementById(watches);
  if (!row) location.replace(shelf);
  else if (row.dataset.mark !== list.dataset.mark) {
    list.dataset.mark = row.dataset.mark;
    list.dispatchEvent(new Event("potluck:refresh", { bubbles: true }));
  }
}).observe(list, { childList: true });

list.addEventListener("potluck:over", () => location.replace("/library?said=over"));
