// Results of changes that need a message or a decision.

import { amount, inWords } from "./changes.js";
import { announce, count, make, putBack, reread } from "./doing.js";
import { element, part, time } from "./elements.js";
import * as keeping from "./keeping.js";
import { page } from "./page.js";
import { newId } from "./sending.js";

function choice(text, from, act) {
  return element("button", { type: "button", onclick: act }, element("b", {}, text), element("small", {}, from));
}

const changedByMe = ({ updatedBy }) => updatedBy === page.kept.person.id;

// Its subject, in one line.
export function titleOf({ kind, name, existing, theirs }) {
  if (kind === "conflict")
    return changedByMe(theirs) ? `You changed ${name} on two devices` : `You and ${theirs.updatedByName} both changed ${name}`;
  if (kind === "gone") return `No longer on the list: ${name}`;
  return kind === "duplicate" ? `${existing.name} is on the list already` : `${name} could not be changed`;
}

function noticeOf(notice) {
  const head = element("h2", { id: `notice-${notice.number}` }, titleOf(notice));
  const box = (...inside) =>
    element("section", { class: "clash", "aria-labelledby": `notice-${notice.number}` }, ...inside);
  const button = (kind, text, act) => element("button", { type: "button", class: kind, onclick: act }, text);
  const gone = async (act = null) => {
    await keeping.dropNotice(notice.number);
    if (act) await act();
    await reread();
    announce();
    document.getElementById("add").focus({ preventScroll: true });
  };
  const soft = (text) => element("p", { class: "soft" }, text);
  if (notice.kind === "conflict") {
    const { fields, mine, theirs } = notice;
    const whole = { ...theirs, ...mine };
    const mineToo = changedByMe(theirs);
    return box(
      head,
      soft("Which version do you want to keep?"),
      element(
        "div",
        { class: "clash-two" },
        choice(inWords(fields, whole, page.storeNames), `yours, ${time(notice.mineAt)}`, () =>
          gone(() => {
            const now = page.items.get(notice.id) ?? theirs;
            const before = Object.fromEntries(Object.keys(mine).map((field) => [field, now[field]]));
            return make("edit", notice.id, { values: mine, before, seen: now.version });
          }),
        ),
        choice(inWords(fields, theirs, page.storeNames), `${mineToo ? "yours, elsewhere" : `${theirs.updatedByName}’s`}, ${time(theirs.updatedAt)}`, () => gone()),
      ),
    );
  }
  if (notice.kind === "gone") {
    const { change } = notice;
    const said = change.kind === "status" ? "You ticked it here" : "You changed it here";
    return box(
      head,
      soft(`${said}, but somebody took it off before that could be sent.`),
      element(
        "div",
        { class: "actions" },
        button("quiet", "All right", () => gone()),
        button("soft-button", "Put it back", () => gone(() => putBack({ ...change.was, ...change.values }))),
      ),
    );
  }
  if (notice.kind === "duplicate") {
    const { existing, change } = notice;
    const more = change.values.quantity ?? 1;
    const from = existing.addedBy === page.kept.person.id ? "from you" : `from ${existing.addedByName}`;
    return box(
      head,
      soft(`${amount(existing)}, ${from}.`),
      element(
        "div",
        { class: "actions" },
        button(null, "Add to the one on the list", () =>
          gone(() => {
            const now = page.shown.get(existing.shoppingItemId) ?? existing;
            return count(existing.shoppingItemId, (now.quantity ?? 1) + more);
          }),
        ),
        button("quiet", "Keep both", () =>
          gone(() => make("add", newId(), { values: change.values, shown: change.shown, allowDuplicate: true })),
        ),
        button("bare", "Leave it", () => gone()),
      ),
    );
  }
  return box(
    head,
    soft(`${notice.message}.`),
    element("div", { class: "actions" }, button("quiet", "All right", () => gone())),
  );
}

export function drawNotices() {
  const place = part("notices");
  const told = JSON.stringify(page.notices);
  // The server's own questions stay until there are some of ours.
  if ((place.dataset.told ?? "[]") === told) return;
  place.dataset.told = told;
  place.replaceChildren(...page.notices.map(noticeOf));
}
