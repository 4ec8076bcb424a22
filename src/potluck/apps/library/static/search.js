// Search while typing: fetches the page for the query, and replaces only the results.

import { all, field, one } from "../../../web/static/js/kit/elements.js";
import { on, onReturn, opensElsewhere } from "../../../web/static/js/kit/events.js";
import { fetchPage, swap } from "../../../web/static/js/kit/page-parts.js";
import { afterPress } from "../../../web/static/js/kit/press-guard.js";

const form = one(document, "[data-search]", HTMLFormElement);
const query = field(form, "q");
const PAUSE = 140;
/** @type {AbortController | null} */
let loading = null;
let timer = 0;
/** @type {string | null} */
let last = query.value.trim();

/** The links to the results. */
const hits = () => all(document, "[data-results] .hit > .row-main");

/** @param {string} address @param {() => void} [then] */
async function load(address, then = () => {}) {
  loading?.abort();
  const own = new AbortController();
  loading = own;
  const answer = await fetchPage(address, { signal: own.signal });
  if (own.signal.aborted) return;
  if (answer?.redirected) location.assign(address);
  // Offline: the displayed results may be outdated.
  else if (!answer?.ok) last = null;
  else
    afterPress(() => {
      swap(one(document, "[data-results]"), one(answer.page, "[data-results]"));
      // Screen readers announce a live region only if the element itself stays.
      one(document, "[data-found]").replaceChildren(...one(answer.page, "[data-found]").childNodes);
      history.replaceState(null, "", address);
      then();
    });
}

function search() {
  clearTimeout(timer);
  const typed = query.value.trim();
  if (typed === last) return;
  last = typed;
  load(typed ? `${form.action}?q=${encodeURIComponent(typed)}` : form.action);
}

query.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, PAUSE);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
// More results: loads the page that has them too, and moves the focus to the first new one.
on(document, "click", "[data-results] a[data-more]", (link, event) => {
  if (opensElsewhere(event)) return;
  event.preventDefault();
  const known = hits().length;
  load(/** @type {HTMLAnchorElement} */ (link).href, () => hits()[known]?.focus());
});
// A page from the back/forward cache must show only what the user may see now.
onReturn(() => {
  last = null;
  search();
});
