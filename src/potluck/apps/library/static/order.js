// Sends each new order of a collection. Its set of numbers stays the same; the items at them change.

const list = document.getElementById("watch");
const PATIENCE = 10_000;
let wanted = false;
let sending = false;

const toast = (words) => document.dispatchEvent(new CustomEvent("potluck:toast", { detail: words }));

async function push() {
  if (sending) return;
  sending = true;
  while (wanted) {
    wanted = false;
    const ids = [...list.querySelectorAll(".sortable")].map((row) => ["itemIds", row.id.replace("row-", "")]);
    const answer = await fetch(list.dataset.ordering, {
      method: "POST",
      body: new URLSearchParams(ids),
      headers: { accept: "application/json" },
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE),
    }).catch(() => null);
    const taken = answer && (answer.ok || answer.type === "opaqueredirect");
    if (!taken && !wanted) toast("The new order is not saved. Move it once more to try again.");
  }
  sending = false;
}

list.addEventListener("potluck:moved", () => {
  const places = [...list.querySelectorAll("[data-number]")];
  const numbers = places.map((each) => Number(each.textContent)).sort((one, other) => one - other);
  places.forEach((each, place) => (each.textContent = numbers[place]));
  wanted = true;
  push();
});
