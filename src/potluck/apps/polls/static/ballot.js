// The ballot: candidates move from one list to the other by a tap, a drag or the keyboard, all with the same result.
// The form sends the fields next to the names, which work without a script too.

import { followDrag } from "../../../web/static/js/kit/drag.js";
import { all, childrenOf, enable, one } from "../../../web/static/js/kit/elements.js";
import { on, onReturn } from "../../../web/static/js/kit/events.js";
import { _, announce } from "../../../web/static/js/kit/words.js";

const ballot = one(document, "[data-ballot]");
const ranked = one(document, "#ranked");
const unranked = one(document, "#unranked");
const most = Number(ballot.dataset.most);
// How far below the ranking a candidate can be dropped on it.
const GAP = 24;

// The order in the poll, for candidates that are removed from the ranking.
/** @param {HTMLElement} choice */
const numberOf = (choice) => Number(choice.dataset.number);
/** @param {HTMLElement} choice */
const isRanked = (choice) => choice.parentElement === ranked;
/** @param {HTMLElement} choice @param {string} act */
const button = (choice, act) => one(choice, `[data-act="${act}"]`);
/** @param {HTMLElement} choice */
const rankOf = (choice) => /** @type {HTMLInputElement} */ (one(choice, "select, input"));
/** @param {HTMLElement} choice */
const placeOf = (choice) => childrenOf(ranked).indexOf(choice) + 1;
/** @param {HTMLElement} choice */
const neighbourOf = (choice) =>
  /** @type {HTMLElement | null} */ (choice.nextElementSibling ?? choice.previousElementSibling);
/** @param {HTMLElement} choice */
const nameOf = (choice) => choice.dataset.name ?? "";
/** @param {string} words */
const tell = (words) => announce(one(ballot, "[data-announced]"), words);

// --- updating the fields and the numbers of the places ---

function show() {
  const choices = childrenOf(ranked);
  const full = choices.length >= most;
  choices.forEach((choice, index) => {
    rankOf(choice).value = String(index + 1);
    one(choice, ".place-number").textContent = String(index + 1);
    enable(button(choice, "up"), index > 0);
    enable(button(choice, "down"), index < choices.length - 1);
  });
  for (const choice of childrenOf(unranked)) {
    rankOf(choice).value = "";
    one(choice, ".place-number").textContent = "";
    enable(button(choice, "add"), !full);
  }
  unranked.classList.toggle("full", full);
  one(ballot, "[data-nothing]").hidden = choices.length > 0;
  one(ballot, "[data-unranked-part]").hidden = unranked.children.length === 0;
  one(ballot, "[data-counted]").textContent = choices.length
    ? _("%(number)s of %(most)s", { number: choices.length, most })
    : "";
  one(ballot, "[data-summary]").textContent = choices.length
    ? _("First choice: %(name)s", { name: nameOf(choices[0]) })
    : _("Rank at least one option.");
}

// --- moves ---

/** @param {HTMLElement} choice */
const tellPlace = (choice) =>
  tell(
    _("%(name)s is now number %(place)s of %(all)s.", {
      name: nameOf(choice),
      place: placeOf(choice),
      all: ranked.children.length,
    }),
  );

/** @param {HTMLElement} choice @param {number} place */
function put(choice, place) {
  if (!isRanked(choice) && ranked.children.length >= most) {
    tell(_("You’ve ranked %(most)s already. Remove one first.", { most }));
    return false;
  }
  const others = childrenOf(ranked).filter((other) => other !== choice);
  ranked.insertBefore(choice, others[Math.max(0, place - 1)] ?? null);
  show();
  tellPlace(choice);
  return true;
}

/** @param {HTMLElement} choice */
function takeOut(choice) {
  const next = childrenOf(unranked).find((other) => numberOf(other) > numberOf(choice));
  unranked.insertBefore(choice, next ?? null);
  show();
}

/** @type {Record<string, (choice: HTMLElement) => void>} */
const acts = {
  add(choice) {
    const next = neighbourOf(choice);
    if (!put(choice, ranked.children.length + 1)) return;
    // The next tap or key press ranks the next candidate, or sends the ballot.
    const isNext = next && ranked.children.length < most;
    (isNext ? button(next, "add") : one(ballot, ".ballot-bar button")).focus({ preventScroll: true });
  },
  up(choice) {
    if (placeOf(choice) > 1) put(choice, placeOf(choice) - 1);
    button(choice, "up").focus();
  },
  down(choice) {
    if (placeOf(choice) < ranked.children.length) put(choice, placeOf(choice) + 1);
    button(choice, "down").focus();
  },
  remove(choice) {
    const next = neighbourOf(choice);
    takeOut(choice);
    tell(_("%(name)s is no longer ranked.", { name: nameOf(choice) }));
    button(next ?? choice, next ? "remove" : "add").focus();
  },
};

on(ballot, "click", ".choice", (choice, event) => {
  const act = event.target.closest("[data-act]")?.dataset.act;
  if (act) acts[act](choice);
  // The whole row is the button: a label would only move the focus to a hidden field.
  else if (!isRanked(choice)) acts.add(choice);
  if (event.target.closest("label")) event.preventDefault();
});

// Arrow keys move the focused candidate, and Delete removes it: as quick as a drag.
on(ballot, "keydown", ".ranked .choice", (choice, event) => {
  const act = { ArrowUp: "up", ArrowDown: "down", Delete: "remove" }[/** @type {string} */ (event.key)];
  if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  acts[act](choice);
});

// --- dragging ---

on(ballot, "pointerdown", ".choice", (choice, event) => {
  if (event.button !== 0 || event.target.closest("button")) return;
  // A finger scrolls the page anywhere but on the handle; a mouse drags the whole row.
  if (event.pointerType === "touch" && !event.target.closest("[data-grip]")) return;
  followDrag(event, {
    begin() {
      choice.setPointerCapture?.(event.pointerId);
      choice.classList.add("dragged");
      ballot.classList.add("dragging");
    },
    over(y) {
      // The drop area reaches to where the other list begins, so that an empty ranking can be dropped on as well as a long
      // one.
      const section = /** @type {HTMLElement} */ (ranked.closest("section"));
      const isOver = y < section.getBoundingClientRect().bottom + GAP;
      if (isOver && (isRanked(choice) || ranked.children.length < most)) {
        const next = childrenOf(ranked).find((other) => {
          const box = other.getBoundingClientRect();
          return other !== choice && y <= box.top + box.height / 2;
        });
        if (!isRanked(choice) || choice.nextElementSibling !== (next ?? null))
          ranked.insertBefore(choice, next ?? null);
        show();
      } else if (!isOver && isRanked(choice)) takeOut(choice);
    },
    end() {
      choice.classList.remove("dragged");
      ballot.classList.remove("dragging");
      if (isRanked(choice)) tellPlace(choice);
      else tell(_("%(name)s is not ranked.", { name: nameOf(choice) }));
    },
  });
});

// After "back", the browser restores the fields; the lists are rebuilt from them.
function fromFields() {
  const choices = all(ballot, ".choice").map((choice) => ({ choice, rank: Number(rankOf(choice).value) || 0 }));
  choices.sort((one, other) => one.rank - other.rank || numberOf(one.choice) - numberOf(other.choice));
  for (const { choice, rank } of choices) (rank ? ranked : unranked).append(choice);
  show();
}

fromFields();
onReturn(fromFields);
