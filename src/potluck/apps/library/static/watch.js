// One book or video, while one looks at it: what changes on its shelf is heard, and what is about it is read again.

const list = document.getElementById("watch");
const { watches, shelf } = list.dataset;

new MutationObserver((changes) => {
  for (const { addedNodes, removedNodes } of changes) {
    const row = [...addedNodes].find((node) => node.id === watches);
    if (row && row.dataset.mark !== list.dataset.mark) {
      list.dataset.mark = row.dataset.mark;
      list.dispatchEvent(new Event("potluck:refresh", { bubbles: true }));
    }
    if (!row && [...removedNodes].some((node) => node.id === watches)) location.replace(shelf);
  }
}).observe(list, { childList: true });

list.addEventListener("potluck:over", () => location.replace("/library?said=over"));
