// Stepping through the rounds without leaving the page; and what somebody has opened stays open when votes come in.

const ROUNDS = "rounds";

document.addEventListener("click", async (event) => {
  const link = event.target.closest(`#${ROUNDS} [data-round]`);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.getAttribute("aria-disabled") === "true") return;
  const address = new URL(link.href);
  const answer = await fetch(address, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) {
    location.assign(link.href);
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById(ROUNDS);
  const shown = document.getElementById(ROUNDS);
  if (!fresh || !shown) return;
  shown.replaceWith(document.adoptNode(fresh));
  // What reads this page again, as votes come in, reads the same round.
  history.replaceState(history.state, "", address.pathname + address.search);
  fresh.querySelector(`[data-round="${link.dataset.round}"]`)?.focus({ preventScroll: true });
});

function keep(old, fresh) {
  const folds = fresh.querySelectorAll("details");
  old.querySelectorAll("details").forEach((fold, index) => {
    if (folds[index]) folds[index].open = fold.open;
  });
}

const frame = document.getElementById("outcomes");

if (frame) {
  new MutationObserver((changes) => {
    for (const { addedNodes, removedNodes } of changes) {
      const [old] = removedNodes;
      const [fresh] = addedNodes;
      if (old?.nodeType === Node.ELEMENT_NODE && fresh?.nodeType === Node.ELEMENT_NODE) keep(old, fresh);
    }
  }).observe(frame, { childList: true });

  // Nobody has to do anything for a poll to close at its time, so nothing is told of it.
  const left = new Date(frame.dataset.closes ?? NaN) - Date.now();
  const LONGEST_TIMER = 2 ** 31 - 1;
  if (left > 0 && left < LONGEST_TIMER) setTimeout(() => location.reload(), left + 1000);
}
