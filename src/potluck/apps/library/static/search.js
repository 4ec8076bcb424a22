// Search while typing: fetches the page for the query, and replaces only the results.

const form = document.querySelector("[data-search]");
const field = form.elements.q;
const PAUSE = 140;
let asked = null;
let timer = 0;
let last = field.value.trim();

async function ask() {
  const typed = field.value.trim();
  if (typed === last) return;
  last = typed;
  asked?.abort();
  const asking = (asked = new AbortController());
  const address = typed ? `${form.action}?q=${encodeURIComponent(typed)}` : form.action;
  const answer = await fetch(address, { headers: { accept: "text/html" }, signal: asking.signal }).catch(() => null);
  if (asking.signal.aborted) return;
  // Signed out, or no signal: the results shown may be outdated.
  if (!answer?.ok || answer.redirected) {
    if (answer?.redirected) location.assign(address);
    else last = null;
    return;
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (asking.signal.aborted) return;
  for (const part of ["[data-results]", "[data-found]"])
    document.querySelector(part).replaceChildren(...page.querySelector(part).childNodes);
  history.replaceState(null, "", address);
}

field.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  ask();
});
// A page from the back/forward cache must show only what the person may see now.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  last = null;
  ask();
});
