// Steps through the rounds without leaving the page.

import { isEnabled, maybe, one } from "../../../web/static/js/kit/elements.js";
import { on, opensElsewhere } from "../../../web/static/js/kit/events.js";
import { fetchPage, swap } from "../../../web/static/js/kit/page-parts.js";
import { afterPress } from "../../../web/static/js/kit/press-guard.js";

// The parts that differ between rounds.
const PARTS = ["rounds", "flow"];
/** @type {Record<string, number>} */
const STEPS = { before: -1, after: 1 };

/** The round being fetched; another tap means the one after it. @type {number | null} */
let coming = null;
/** @type {AbortController | null} */
let asking = null;

on(document, "click", "#rounds a[data-round]", async (link, event) => {
  if (opensElsewhere(event)) return;
  event.preventDefault();
  const { round = "" } = link.dataset;
  const address = new URL(/** @type {HTMLAnchorElement} */ (link).href);
  if (coming !== null && round in STEPS) {
    const last = Number(one(document, "#rounds").dataset.last);
    address.searchParams.set("round", String(Math.max(1, Math.min(last, coming + STEPS[round]))));
  } else if (!isEnabled(link)) return;
  const wanted = Number(address.searchParams.get("round"));
  if (wanted === coming) return;
  coming = wanted;
  asking?.abort();
  const own = new AbortController();
  asking = own;
  const answer = await fetchPage(address, { signal: own.signal });
  // Another one has been requested since.
  if (asking !== own) return;
  coming = null;
  asking = null;
  if (!answer?.ok) {
    location.assign(address);
    return;
  }
  afterPress(() => {
    for (const id of PARTS) {
      const [shown, fresh] = [document.getElementById(id), answer.page.getElementById(id)];
      if (shown && fresh) swap(shown, fresh);
    }
    // When votes come in, the page is fetched again for the same round.
    history.replaceState(history.state, "", address.pathname + address.search);
    maybe(document, `#rounds [data-round="${round}"]`)?.focus({ preventScroll: true });
  });
});
