// Search while typing: fetches the page for the query, and replaces only the results.

const form = document.querySelector("[data-search]");
const field = form.elements.q;
const PAUSE = 140;
let asked = null;
let timer = 0;
let last = field.value.trim();
const hits = () => [...document.querySelectorAll("[data-results] .hit > .row-main")];

async function ask() {
  const typed = field.value.trim();
  if (typed === last) return;
  last = typed;
  await load(typed ? `${form.action}?q=${encodeURIComponent(typed)}` : form.action);
}

async function load(address) {
  asked?.abort();
  const asking = (asked = new AbortController());
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
// More results: the page that has them, too. The first new one gets the focus, where a keyboard or a reader goes on.
document.querySelector("[data-results]").addEventListener("click", async (event) => {
  const link = event.target.closest("[data-more]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const had = new Set(hits().map((hit) => hit.getAttribute("href")));
  await load(link.href);
  hits()
    .find((hit) => !had.has(hit.getAttribute("href")))
    ?.focus();
});
// A page from the back/forward cache must show only what the person may see now.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  last = null;
  ask();
});
