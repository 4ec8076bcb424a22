// Whoever waits for a poll's time to be over sees what came of it then, without having to ask.

const waiting = document.querySelector("[data-closes]");
const left = new Date(waiting?.dataset.closes ?? NaN) - Date.now();
const LONGEST_TIMER = 2 ** 31 - 1;
// By a clock that is wrong it is shown again as it was, and not over and over.
if (left > 0 && left < LONGEST_TIMER) setTimeout(() => location.reload(), left + 1000);
