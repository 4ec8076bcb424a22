// Nothing moves under a finger: a row that moved between its touch and its click would leave the click to nobody, or to its
// neighbour.

// In milliseconds. Whoever holds on for longer is not tapping, or has let go where the page could not notice it.
const LONGEST_PRESS = 1000;

let pressing = 0;
const held = new Set();

// Whether something is pressed right now; `work` is then called once it is released.
export function afterPress(work) {
  if (pressing) held.add(work);
  return Boolean(pressing);
}

function release() {
  clearTimeout(pressing);
  pressing = 0;
  const works = [...held];
  held.clear();
  for (const work of works) work();
}

addEventListener(
  "pointerdown",
  () => {
    clearTimeout(pressing);
    pressing = setTimeout(release, LONGEST_PRESS);
  },
  true,
);
// A click already knows whom it is for.
for (const end of ["click", "pointercancel"]) addEventListener(end, release, true);
