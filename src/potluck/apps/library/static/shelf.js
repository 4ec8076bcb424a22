// Live counts of the shelf; and leaving the page when a guest has lost access.

const list = document.getElementById("shelf");
const items = document.querySelector("[data-items]");
const lent = document.querySelector("[data-lent]");

// Only if the whole shelf is on one page.
if (items.dataset.items) {
  const count = () => {
    const there = list.querySelectorAll("[data-kind=book], [data-kind=video]").length;
    const said = `${there} item${there === 1 ? "" : "s"}`;
    if (items.textContent !== said) items.textContent = said;
    const out = list.querySelectorAll("[data-kind]:where([data-lent])").length;
    if (lent) lent.textContent = out ? `, ${out} lent` : "";
  };
  new MutationObserver(count).observe(list, { childList: true });
}

list.addEventListener("potluck:over", () => location.replace("/library?over"));

// A menu closes on a click elsewhere.
const others = document.querySelector("details.others");
document.addEventListener("click", (event) => {
  if (!others.contains(event.target)) others.open = false;
});
others.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !others.open) return;
  others.open = false;
  others.querySelector("summary").focus();
});
