// Weeks that are shown stay shown: after “Show September 2026”, refreshes reach that far back.

import { childrenOf, maybe } from "../../../web/static/js/kit/elements.js";
import { onChildren } from "../../../web/static/js/kit/events.js";

const weeks = maybe(document, "#weeks");

if (weeks)
  onChildren(weeks, () => {
    const last = childrenOf(weeks).at(-1)?.dataset.order;
    if (!last) return;
    const address = new URL(location.href);
    address.searchParams.set("downTo", last);
    weeks.dataset.livePage = address.href;
  });
