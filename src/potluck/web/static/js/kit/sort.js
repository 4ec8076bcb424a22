// Reordering rows: dragged by the handle; or picked up by a tap, Space or Enter, and moved with two buttons, the arrow keys,
// Home and End. Escape puts a row back where it was picked up.
//
//   <ol data-sorts>
//     <li class="sortable"> <button class="grip" data-grip> … <span class="movers" hidden> <button data-move="-1"> …
//   <p class="hidden-text" role="status" data-announced></p>
//
// A row's name is its .row-name, or what is typed in it. Every new order is dispatched on the list as potluck:moved.

import { followDrag } from "./drag.js";
import { all, childrenOf, enable, maybe, one } from "./elements.js";
import { on, onChildren } from "./events.js";
import { _, announce } from "./words.js";

/** @param {HTMLElement} row */
const nameOf = (row) =>
  maybe(row, ".row-name")?.textContent || maybe(row, "input", HTMLInputElement)?.value || _("this row");

/** @param {HTMLElement} list */
function sortable(list) {
  const moved = () => list.dispatchEvent(new Event("potluck:moved"));
  // By id, because an update from the server may replace the row while it is held.
  let held = "";
  /** @type {string[]} */
  let before = [];
  // A live list may have other rows as well, which stay where they are.
  const rows = () => childrenOf(list).filter((row) => row.classList.contains("sortable"));
  const ids = () => rows().map((row) => row.id);
  const rowOf = (/** @type {string} */ id) => rows().find((row) => row.id === id);
  /** @param {HTMLElement} row */
  const inOrder = (row) => ({ name: nameOf(row), place: rows().indexOf(row) + 1, all: rows().length });

  function draw() {
    rows().forEach((row, place) => {
      const isHeld = row.id === held;
      row.classList.toggle("held", isHeld);
      const movers = maybe(row, ".movers");
      if (!movers) return;
      movers.hidden = !isHeld;
      const handle = one(row, "[data-grip]");
      handle.setAttribute("aria-pressed", String(isHeld));
      handle.setAttribute("aria-label", _("Move %(name)s, place %(place)s of %(all)s", inOrder(row)));
      const [up, down] = all(movers, "button");
      enable(up, place > 0);
      enable(down, place < rows().length - 1);
    });
  }

  /** @param {string} words */
  const tell = (words) => announce(one(document, "[data-announced]"), words);

  /** @param {HTMLElement} row */
  function lift(row) {
    held = row.id;
    before = ids();
    draw();
    tell(
      _(
        "Picked up %(name)s, place %(place)s of %(all)s. Use the arrow keys to move it, Space to drop it, Escape to cancel.",
        inOrder(row),
      ),
    );
  }

  function putDown() {
    const row = rowOf(held);
    held = "";
    draw();
    if (row) tell(_("Dropped %(name)s, place %(place)s of %(all)s.", inOrder(row)));
  }

  /** @param {HTMLElement} row */
  const turn = (row) => (held === row.id ? putDown() : lift(row));

  /** @param {HTMLElement} row @param {number} place */
  function move(row, place) {
    const others = rows().filter((other) => other !== row);
    const index = Math.max(0, Math.min(place, others.length));
    if (rows().indexOf(row) === index) return;
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    list.insertBefore(row, others[index] ?? null);
    if (row.contains(focused)) focused.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    draw();
    tell(_("%(name)s is now at place %(place)s of %(all)s.", inOrder(row)));
    moved();
  }

  on(list, "click", "li", (row, { target }) => {
    const by = target.closest("[data-move]")?.dataset.move;
    if (by) move(row, rows().indexOf(row) + Number(by));
    else if (target.closest("[data-grip]")) turn(row);
  });

  on(list, "keydown", "li", (row, event) => {
    // On keydown: by keyup, the server may have replaced the button.
    if (event.target.matches("[data-grip]") && (event.key === " " || event.key === "Enter")) {
      event.preventDefault();
      if (!event.repeat) turn(row);
      return;
    }
    if (row.id !== held || event.target.matches("input")) return;
    const place = rows().indexOf(row);
    /** @type {Record<string, number>} */
    const places = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: rows().length - 1 };
    if (event.key in places) move(row, places[event.key]);
    else if (event.key === "Escape") {
      const back = before.indexOf(row.id);
      if (back >= 0) move(row, back);
      putDown();
      one(row, "[data-grip]").focus();
    } else return;
    event.preventDefault();
  });

  // Moving on to something else puts the row down.
  /** @param {EventTarget | null} target */
  const leave = (target) => held && target && !rowOf(held)?.contains(/** @type {Node} */ (target)) && putDown();
  document.addEventListener("pointerdown", ({ target }) => leave(target));
  list.addEventListener("focusout", ({ relatedTarget }) => leave(relatedTarget));

  on(list, "pointerdown", "[data-grip]", (handle, event) => {
    if (event.button !== 0) return;
    const id = /** @type {HTMLElement} */ (handle.closest("li")).id;
    const order = ids().join();
    followDrag(event, {
      begin() {
        held = id;
        list.classList.add("sorting");
        draw();
      },
      over(y) {
        const row = rowOf(id);
        if (!row) return;
        const next = rows().find((other) => {
          const box = other.getBoundingClientRect();
          return other !== row && y < box.top + box.height / 2;
        });
        if (row.nextElementSibling !== (next ?? null)) list.insertBefore(row, next ?? null);
      },
      end() {
        list.classList.remove("sorting");
        putDown();
        if (ids().join() !== order) moved();
      },
    });
  });

  onChildren(list, draw);
  draw();
}

all(document, "[data-sorts]").forEach(sortable);
