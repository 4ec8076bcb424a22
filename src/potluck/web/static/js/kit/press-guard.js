// Nothing moves under a finger: if a row moves or is replaced between press and release, its neighbour gets the click, or no
// element does.

// In milliseconds. A longer press is no tap, or its release went unnoticed.
const LONGEST_PRESS = 1000;

let pressing = 0;
/** @type {Set<() => void>} */
const waiting = new Set();

// Calls `work` at once or, while something is pressed, after its release. In the order of the calls, each work once.
/** @param {() => void} work */
export function afterPress(work) {
  if (pressing || waiting.size) waiting.add(work);
  else work();
}

function press() {
  clearTimeout(pressing);
  pressing = setTimeout(release, LONGEST_PRESS);
}

function release() {
  clearTimeout(pressing);
  pressing = 0;
  // Not within the click: a form that leaves the page before its own button has submitted it is not sent.
  setTimeout(() => {
    for (const work of waiting) {
      waiting.delete(work);
      work();
    }
  });
}

if (globalThis.document) {
  addEventListener("pointerdown", press, true);
  for (const end of ["click", "pointercancel"]) addEventListener(end, release, true);
  // The space bar presses a button, too, and clicks when it is released.
  addEventListener("keydown", (event) => event.key === " " && press(), true);
  addEventListener("keyup", (event) => event.key === " " && release(), true);
}
