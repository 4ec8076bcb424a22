// Steps through the rounds without leaving the page, and keeps open sections open when votes come in.

// The parts that differ between rounds.
const PARTS = ["rounds", "flow"];

// The round being fetched; another tap means the one after it.
let coming = null;
let asking = null;

document.addEventListener("click", async (event) => {
  const link = event.target.closest("#rounds [data-round]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const step = { before: -1, after: 1 }[link.dataset.round];
  const address = new URL(link.href);
  if (coming !== null && step) {
    const last = Number(document.getElementById("rounds").dataset.last);
    address.searchParams.set("round", Math.max(1, Math.min(last, coming + step)));
  } else if (link.getAttribute("aria-disabled") === "true") return;
  const wanted = Number(address.searchParams.get("round"));
  if (wanted === coming) return;
  coming = wanted;
  asking?.abort();
  const own = (asking = new AbortController());
  const answer = await fetch(address, { headers: { accept: "text/html" }, signal: own.signal }).catch(() => null);
  const text = answer?.ok ? await answer.text().catch(() => null) : null;
  // Another one has been requested since.
  if (asking !== own) return;
  coming = asking = null;
  if (text === null) {
    location.assign(address);
    return;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const id of PARTS) {
    const fresh = page.getElementById(id);
    const shown = document.getElementById(id);
    if (!fresh || !shown) continue;
    keep(shown, fresh);
    shown.replaceWith(document.adoptNode(fresh));
  }
  // When votes come in, the page is fetched again for the same round.
  history.replaceState(history.state, "", address.pathname + address.search);
  document.querySelector(`#rounds [data-round="${link.dataset.round}"]`)?.focus({ preventScroll: true });
});

const labelOf = (fold) => fold.querySelector("summary").textContent.replace(/\d+/g, "").trim();

function keep(old, fresh) {
  const open = new Set([...old.querySelectorAll("details[open]")].map(labelOf));
  for (const fold of fresh.querySelectorAll("details")) fold.open = open.has(labelOf(fold));
}

const frame = document.querySelector(".outcome-frame");

if (frame) {
  new MutationObserver((changes) => {
    for (const { addedNodes, removedNodes } of changes) {
      const [old] = removedNodes;
      const [fresh] = addedNodes;
      if (old?.nodeType === Node.ELEMENT_NODE && fresh?.nodeType === Node.ELEMENT_NODE) keep(old, fresh);
    }
  }).observe(frame, { childList: true });
}
