// Reloads the page when the poll's time is over, so that waiting people see the result.

const waiting = document.querySelector("[data-closes]");
const left = new Date(waiting?.dataset.closes ?? NaN) - Date.now();
const LONGEST_TIMER = 2 ** 31 - 1;
// If the clock is wrong, the page reloads once, and not over and over.
if (left > 0 && left < LONGEST_TIMER) setTimeout(() => location.reload(), left + 1000);
