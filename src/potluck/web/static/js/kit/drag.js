// Dragging, by finger, pen or mouse.

// How far a pointer must move before it is a drag and not an unsteady tap.
const STEADY = 6;
// How near to the edge of the window a drag scrolls it, and how far at a time.
const EDGE = 80;
const SCROLLED = 12;

/**
 * Follows a pointer that was pressed, and ignores the click at the end of a drag.
 * @param {PointerEvent} pressed
 * @param {{ begin: () => void, over: (y: number) => void, end: () => void }} drag
 */
export function followDrag(pressed, { begin, over, end }) {
  let begun = false;

  /** @param {PointerEvent} event */
  function move(event) {
    const y = event.clientY;
    if (event.pointerId !== pressed.pointerId || (!begun && Math.abs(y - pressed.clientY) < STEADY)) return;
    if (!begun) begin();
    begun = true;
    event.preventDefault();
    const bar = document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0;
    if (y < Math.max(0, bar) + EDGE) scrollBy(0, -SCROLLED);
    else if (y > innerHeight - EDGE) scrollBy(0, SCROLLED);
    over(y);
  }

  /** @param {PointerEvent} event */
  function release(event) {
    if (event.pointerId !== pressed.pointerId) return;
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", release);
    removeEventListener("pointercancel", release);
    if (!begun) return;
    addEventListener("click", ignore, true);
    setTimeout(() => removeEventListener("click", ignore, true));
    end();
  }

  addEventListener("pointermove", move, { passive: false });
  addEventListener("pointerup", release);
  addEventListener("pointercancel", release);
}

/** @param {Event} click */
function ignore(click) {
  click.stopPropagation();
  click.preventDefault();
}
