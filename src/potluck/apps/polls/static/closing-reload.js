// Reloads the page when the poll's time is over, so that waiting people see the result.

import { maybe } from "../../../web/static/js/kit/elements.js";

const { closes } = maybe(document, "[data-closes]")?.dataset ?? {};
const left = closes ? Number(new Date(closes)) - Date.now() : 0;
const LONGEST_TIMER = 2 ** 31 - 1;
// If the clock is wrong, the page reloads once, and not over and over.
if (left > 0 && left < LONGEST_TIMER) setTimeout(() => location.reload(), left + 1000);
