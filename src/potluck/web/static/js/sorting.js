// Reordering rows: dragged by the handle; or picked up by a tap, Space or Enter, and moved with two buttons, the arrow keys,
// Home and End. Escape puts a row back where it was picked up.
//
//   <ol data-sorts> <li class="sortable"> <button data-grip> … <span class="movers" hidden> <button data-move="-1"> …
//   <p class="hidden-text" role="status" data-said></p>
//
// A row's name is its .row-name, or what is typed in it. Every new order is dispatched on the list as potluck:moved.

const EDGE = 90;
const FAR_ENOUGH = 5;

const rules = new Intl.PluralRules("en", { type: "ordinal" });
const endings = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinal = (number) => `${number}${endings[rules.select(number)]}`;

const named = (row) => row.querySelector(".row-name")?.textContent || row.querySelector("input")?.value || "this row";

// Read out by screen readers only.
function say(words) {
  const said = document.querySelector("[data-said]");
  // The same text twice would not be read out again.
  said.textContent = said.textContent === words ? `${words} ` : words;
}

function sorting(list) {
  const moved = () => list.dispatchEvent(new Event("potluck:moved"));
  // By id, because an update from the server may replace the row while somebody holds it.
  let held = null;
  let before = [];
  // A live list may have other rows as well, which stay where they are.
  const rows = () => [...list.children].filter((row) => row.classList.contains("sortable"));
  const ids = () => rows().map((row) => row.id);
  const rowOf = (id) => rows().find((row) => row.id === id);
  const grip = (row) => row?.querySelector("[data-grip]");

  function draw() {
    rows().forEach((row, place) => {
      const isHeld = row.id === held;
      row.classList.toggle("held", isHeld);
      const movers = row.querySelector(".movers");
      if (!movers) return;
      movers.hidden = !isHeld;
      const handle = grip(row);
      handle.setAttribute("aria-pressed", isHeld);
      handle.setAttribute("aria-label", `Move ${named(row)}, place ${place + 1} of ${rows().length}`);
      const [up, down] = movers.querySelectorAll("button");
      // aria-disabled, not disabled: disabling the button that has the focus would lose the focus.
      up.setAttribute("aria-disabled", place === 0);
      down.setAttribute("aria-disabled", place === rows().length - 1);
    });
  }

  const tell = (row, words) => say(`${named(row)} ${words}`);
  const placed = (row) => `is ${ordinal(rows().indexOf(row) + 1)} of ${rows().length}`;

  function lift(row) {
    held = row.id;
    before = ids();
    draw();
    tell(row, `lifted, ${placed(row)}. Up and down move it, space puts it down, escape puts it back.`);
  }

  function putDown() {
    const row = rowOf(held);
    held = null;
    draw();
    if (row) tell(row, `put down, ${placed(row)}.`);
  }

  function move(row, place) {
    const others = rows().filter((other) => other !== row);
    const index = Math.max(0, Math.min(place, others.length));
    if (rows().indexOf(row) === index) return;
    const focused = document.activeElement;
    list.insertBefore(row, others[index] ?? null);
    if (row.contains(focused)) focused.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    draw();
    tell(row, `${placed(row)}.`);
    moved();
  }

  list.addEventListener("click", (event) => {
    const row = event.target.closest("li");
    const by = event.target.closest("[data-move]")?.dataset.move;
    if (by) return move(row, rows().indexOf(row) + Number(by));
    if (!event.target.closest("[data-grip]") || dragged) return undefined;
    if (held === row.id) putDown();
    else lift(row);
    return undefined;
  });

  list.addEventListener("keydown", (event) => {
    const row = event.target.closest("li");
    // On keydown: by keyup, the server may have replaced the button.
    if (event.target.matches("[data-grip]") && (event.key === " " || event.key === "Enter")) {
      event.preventDefault();
      if (event.repeat) return;
      if (held === row.id) putDown();
      else lift(row);
      return;
    }
    if (!row || row.id !== held || event.target.matches("input")) return;
    const place = rows().indexOf(row);
    const to = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: rows().length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      move(row, to);
    } else if (event.key === "Escape") {
      event.preventDefault();
      const back = before.indexOf(row.id);
      if (back >= 0) move(row, back);
      putDown();
      grip(row).focus();
    }
  });

  // Moving on to something else puts the row down.
  document.addEventListener("pointerdown", (event) => {
    if (held && !rowOf(held)?.contains(event.target)) putDown();
  });
  list.addEventListener("focusout", (event) => {
    if (held && event.relatedTarget && !rowOf(held)?.contains(event.relatedTarget)) putDown();
  });

  // --- dragging ---

  let dragged = false;

  list.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest("[data-grip]");
    if (!handle || event.button !== 0) return;
    const { id } = handle.closest("li");
    const from = { y: event.clientY, pointer: event.pointerId };
    const order = ids().join();

    const over = (now) => {
      if (now.pointerId !== from.pointer) return;
      if (!dragged && Math.abs(now.clientY - from.y) < FAR_ENOUGH) return;
      if (!dragged) {
        dragged = true;
        held = id;
        list.classList.add("sorting");
        draw();
      }
      now.preventDefault();
      if (now.clientY < EDGE) scrollBy(0, -12);
      else if (now.clientY > innerHeight - EDGE) scrollBy(0, 12);
      const row = rowOf(id);
      if (!row) return;
      const next = rows().find((other) => {
        const box = other.getBoundingClientRect();
        return other !== row && now.clientY < box.top + box.height / 2;
      });
      if (row.nextElementSibling !== (next ?? null)) list.insertBefore(row, next ?? null);
    };

    const end = (now) => {
      if (now.pointerId !== from.pointer) return;
      removeEventListener("pointermove", over);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      if (!dragged) return;
      list.classList.remove("sorting");
      putDown();
      if (ids().join() !== order) moved();
      // The click event at the end of a drag is ignored.
      setTimeout(() => (dragged = false));
    };

    addEventListener("pointermove", over, { passive: false });
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  });

  new MutationObserver(draw).observe(list, { childList: true });
  draw();
}

for (const list of document.querySelectorAll("[data-sorts]")) sorting(list);
