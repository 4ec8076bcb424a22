// How many people are viewing, votes still being counted, and what to do once this person may no longer view it.

document.addEventListener("potluck:heard", (event) => {
  if (event.detail.name !== "looking") return;
  const { people } = JSON.parse(event.detail.data);
  for (const badge of document.querySelectorAll("[data-live-badge]")) {
    badge.dataset.liveSaid = people > 1 ? `${people} people here now` : "Just you here";
    if (!badge.classList.contains("off")) badge.textContent = badge.dataset.liveSaid;
  }
});

// While votes come in, the page shows the last count, and reloads for as long as that is behind.
const BEHIND = 1500;
let looking = 0;
function lookAgain() {
  const behind = document.querySelector("[data-behind]");
  clearTimeout(looking);
  if (!behind) return;
  looking = setTimeout(() => {
    if (!document.hidden) behind.dispatchEvent(new Event("potluck:refresh", { bubbles: true }));
    lookAgain();
  }, BEHIND);
}
new MutationObserver(lookAgain).observe(document.getElementById("contents") ?? document.body, { childList: true });
lookAgain();

// It expired, its passcode was replaced, or it was deleted: reloading the page says which.
const OVER = new Set([401, 403, 404, 410]);
document.addEventListener("htmx:sse:error", (event) => OVER.has(event.detail.status) && location.reload());
document.addEventListener("potluck:heard", (event) => event.detail.name === "over" && location.reload());
