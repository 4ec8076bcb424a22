// The ballot: candidates move from one list to the other by a tap, a drag or the keyboard, all with the same result.
// The form sends the fields beside the names, which work without a script too.

const ballot = document.querySelector("[data-ballot]");
const ranked = document.getElementById("ranked");
const unranked = document.getElementById("unranked");
const said = ballot.querySelector("[data-said]");
const most = Number(ballot.dataset.most);
// The order in the poll, for candidates that are removed from the ranking.
const numberOf = (choice) => Number(choice.dataset.number);
const nameOf = (choice) => choice.dataset.name;
const isRanked = (choice) => choice.parentElement === ranked;
const button = (choice, act) => choice.querySelector(`[data-act="${act}"]`);

const rules = new Intl.PluralRules("en", { type: "ordinal" });
const endings = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinal = (number) => `${number}${endings[rules.select(number)]}`;

function tell(sentence) {
  // The same text twice would not be read out again.
  said.textContent = said.textContent === sentence ? `${sentence} ` : sentence;
}

const at = (choice) => [...ranked.children].indexOf(choice) + 1;

// --- updating the fields and the numbers beside the names ---

function show() {
  const choices = [...ranked.children];
  choices.forEach((choice, index) => {
    choice.querySelector("select, input").value = index + 1;
    choice.querySelector(".place-number").textContent = index + 1;
    // aria-disabled, not disabled: disabling the button that has the focus would lose the focus.
    button(choice, "up").setAttribute("aria-disabled", index === 0);
    button(choice, "down").setAttribute("aria-disabled", index === choices.length - 1);
  });
  for (const choice of unranked.children) {
    choice.querySelector("select, input").value = "";
    choice.querySelector(".place-number").textContent = "";
  }
  const full = choices.length >= most;
  unranked.classList.toggle("full", full);
  for (const choice of unranked.children) button(choice, "add").setAttribute("aria-disabled", full);
  ballot.querySelector("[data-nothing]").hidden = choices.length > 0;
  ballot.querySelector("[data-unranked-part]").hidden = unranked.children.length === 0;
  ballot.querySelector("[data-counted]").textContent = choices.length ? `${choices.length} of ${most}` : "";
  ballot.querySelector("[data-summary]").textContent = choices.length
    ? `First: ${nameOf(choices[0])}`
    : "Rank at least one.";
}

// --- moves ---

function put(choice, place) {
  if (!isRanked(choice) && ranked.children.length >= most) {
    tell(`You can rank ${most} at most. Take one out first.`);
    return false;
  }
  const others = [...ranked.children].filter((other) => other !== choice);
  const index = Math.max(0, Math.min(place - 1, others.length));
  ranked.insertBefore(choice, others[index] ?? null);
  show();
  tell(`${nameOf(choice)} is now ${ordinal(index + 1)} of ${ranked.children.length}.`);
  return true;
}

function takeOut(choice) {
  const next = [...unranked.children].find((other) => numberOf(other) > numberOf(choice));
  unranked.insertBefore(choice, next ?? null);
  show();
  tell(`${nameOf(choice)} is not ranked any more.`);
}

const acts = {
  add(choice) {
    const next = choice.nextElementSibling ?? choice.previousElementSibling;
    if (!put(choice, ranked.children.length + 1)) return;
    // The next tap or key press ranks the next candidate, or sends the ballot.
    (next && ranked.children.length < most ? button(next, "add") : ballot.querySelector(".ballot-bar button")).focus({
      preventScroll: true,
    });
  },
  up(choice) {
    if (at(choice) > 1) put(choice, at(choice) - 1);
    button(choice, "up").focus();
  },
  down(choice) {
    if (at(choice) < ranked.children.length) put(choice, at(choice) + 1);
    button(choice, "down").focus();
  },
  remove(choice) {
    const next = choice.nextElementSibling ?? choice.previousElementSibling;
    takeOut(choice);
    button(next ?? choice, next ? "remove" : "add").focus();
  },
};

ballot.addEventListener("click", (event) => {
  const choice = event.target.closest(".choice");
  if (!choice || dragged) return;
  const act = event.target.closest("[data-act]")?.dataset.act;
  if (act) acts[act](choice);
  // The whole row is the button: a label would only move the focus to a hidden field.
  else if (!isRanked(choice)) acts.add(choice);
  if (event.target.closest("label")) event.preventDefault();
});

// Arrow keys move the focused candidate, and Delete removes it: as quick as a drag.
ballot.addEventListener("keydown", (event) => {
  const choice = event.target.closest(".ranked .choice");
  const act = { ArrowUp: "up", ArrowDown: "down", Delete: "remove" }[event.key];
  if (!choice || !act || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  acts[act](choice);
});

// --- dragging, by finger, pen or mouse ---

let dragged = null;

// How far a pointer must move before it is a drag and not an unsteady tap.
const STEADY = 6;
const EDGE = 80;
const GAP = 24;

function placeAt(y, choice) {
  const others = [...ranked.children].filter((other) => other !== choice);
  return others.filter((other) => {
    const box = other.getBoundingClientRect();
    return box.top + box.height / 2 < y;
  }).length;
}

ballot.addEventListener("pointerdown", (event) => {
  const choice = event.target.closest(".choice");
  if (!choice || event.button !== 0 || event.target.closest("button")) return;
  // A finger scrolls the page anywhere but on the handle; a mouse drags the whole row.
  if (event.pointerType === "touch" && !event.target.closest("[data-grip]")) return;
  const from = { y: event.clientY, pointer: event.pointerId };
  let begun = false;

  const move = (now) => {
    if (now.pointerId !== from.pointer) return;
    if (!begun && Math.abs(now.clientY - from.y) < STEADY) return;
    if (!begun) {
      begun = true;
      dragged = choice;
      choice.setPointerCapture?.(from.pointer);
      choice.classList.add("dragged");
      ballot.classList.add("dragging");
    }
    now.preventDefault();
    const bar = document.querySelector(".top").getBoundingClientRect().bottom;
    if (now.clientY < bar + EDGE) scrollBy(0, -12);
    else if (now.clientY > innerHeight - EDGE) scrollBy(0, 12);
    // The drop area reaches to where the other list begins, so that an empty ranking can be dropped on as well as a long one.
    const over = now.clientY < ranked.closest("section").getBoundingClientRect().bottom + GAP;
    const room = isRanked(choice) || ranked.children.length < most;
    if (over && room) {
      const others = [...ranked.children].filter((other) => other !== choice);
      const next = others[placeAt(now.clientY, choice)] ?? null;
      if (!isRanked(choice) || choice.nextElementSibling !== next) ranked.insertBefore(choice, next);
    } else if (!over && isRanked(choice)) {
      const next = [...unranked.children].find((other) => numberOf(other) > numberOf(choice));
      unranked.insertBefore(choice, next ?? null);
    }
    show();
  };

  const end = (now) => {
    if (now.pointerId !== from.pointer) return;
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
    if (!begun) return;
    choice.classList.remove("dragged");
    ballot.classList.remove("dragging");
    if (isRanked(choice)) tell(`${nameOf(choice)} is now ${ordinal(at(choice))} of ${ranked.children.length}.`);
    else tell(`${nameOf(choice)} is not ranked.`);
    // The click event at the end of a drag is ignored.
    setTimeout(() => (dragged = null));
  };

  addEventListener("pointermove", move);
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
});

// After "back", the browser restores the fields; the lists are rebuilt from them.
function fromFields() {
  const choices = [...ballot.querySelectorAll(".choice")].map((choice) => [
    Number(choice.querySelector("select, input").value) || 0,
    choice,
  ]);
  for (const [rank, choice] of choices.filter(([rank]) => rank).sort(([one], [other]) => one - other))
    if (rank) ranked.append(choice);
  for (const [, choice] of choices.filter(([rank]) => !rank).sort(([, one], [, other]) => numberOf(one) - numberOf(other)))
    unranked.append(choice);
  show();
}

fromFields();
addEventListener("pageshow", (event) => event.persisted && fromFields());
