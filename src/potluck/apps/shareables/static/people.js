// How many look, and what to do when it is not open to this person any more.

document.addEventListener("potluck:heard", (event) => {
  if (event.detail.name !== "looking") return;
  const { people } = JSON.parse(event.detail.data);
  for (const badge of document.querySelectorAll("[data-live-badge]")) {
    badge.dataset.liveSaid = people > 1 ? `${people} people here now` : "Just you here";
    if (!badge.classList.contains("off")) badge.textContent = badge.dataset.liveSaid;
  }
});

// Its time is over, another passcode was set, or it is gone: the page as it is now says which.
const OVER = new Set([401, 403, 404, 410]);
document.addEventListener("htmx:sse:error", (event) => OVER.has(event.detail.status) && location.reload());
