// Results of changes that need a message or a decision.

import { element } from "../../../web/static/js/kit/elements.js";
import { newId } from "../../../web/static/js/kit/send.js";
import { clock } from "../../../web/static/js/kit/time.js";
import { addBox, count, make, putBack } from "./actions.js";
import { amount, inWords } from "./changes.js";
import { button, noticeBox } from "./elements.js";
import * as store from "./offline-store.js";
import { list, page, part } from "./state.js";
import { announce, reread } from "./sync.js";

/** @typedef {import("./offline-store.js").Notice} Notice */
/** Ends the notice, and then does what was chosen. @typedef {(act?: () => unknown) => Promise<void>} End */

/** @param {string} text */
const soft = (text) => element("p", { class: "soft" }, text);
/** @param {...Node} buttons */
const actions = (...buttons) => element("div", { class: "actions" }, ...buttons);
/** @param {import("./changes.js").Item} item */
const isChangedByMe = ({ updatedBy }) => updatedBy === list().person.id;

/** Its subject, in one line. @param {Notice} notice */
export function titleOf({ kind, name, existing, theirs }) {
  if (kind === "conflict")
    return isChangedByMe(theirs)
      ? `You changed ${name} on two devices`
      : `You and ${theirs.updatedByName} both changed ${name}`;
  if (kind === "gone") return `No longer on the list: ${name}`;
  return kind === "duplicate" ? `${existing.name} is on the list already` : `${name} could not be changed`;
}

/** What it says and offers, by its kind. @type {Record<string, (notice: Notice, end: End) => Node[]>} */
const contents = {
  conflict({ id, fields, mine, mineAt, theirs }, end) {
    const from = isChangedByMe(theirs) ? "yours, elsewhere" : `${theirs.updatedByName}’s`;
    const takeMine = () => {
      const now = page.items.get(id) ?? theirs;
      const before = Object.fromEntries(Object.keys(mine).map((field) => [field, now[field]]));
      return make("edit", id, { values: mine, before, seen: now.version });
    };
    /** @param {Record<string, any>} values @param {string} whose @param {() => void} act */
    const choice = (values, whose, act) => {
      const words = element("b", {}, inWords(fields, values, page.storeNames));
      return element("button", { type: "button", onclick: act }, words, element("small", {}, whose));
    };
    return [
      soft("Which version do you want to keep?"),
      element(
        "div",
        { class: "clash-two" },
        choice({ ...theirs, ...mine }, `yours, ${clock(mineAt)}`, () => end(takeMine)),
        choice(theirs, `${from}, ${clock(theirs.updatedAt)}`, () => end()),
      ),
    ];
  },
  gone({ change }, end) {
    const did = change.kind === "status" ? "You ticked it here" : "You changed it here";
    return [
      soft(`${did}, but it was removed before that could be sent.`),
      actions(
        button("quiet", "All right", () => end()),
        button("soft-button", "Put it back", () => end(() => putBack({ ...change.was, ...change.values }))),
      ),
    ];
  },
  duplicate({ existing, change }, end) {
    const { values, shown } = change;
    const from = existing.addedBy === list().person.id ? "from you" : `from ${existing.addedByName}`;
    const addUp = () => {
      const now = page.shown.get(existing.shoppingItemId) ?? existing;
      return count(existing.shoppingItemId, (now.quantity ?? 1) + (values.quantity ?? 1));
    };
    return [
      soft(`${amount(existing)}, ${from}.`),
      actions(
        button("", "Add to the one on the list", () => end(addUp)),
        button("quiet", "Keep both", () => end(() => make("add", newId(), { values, shown, allowDuplicate: true }))),
        button("bare", "Leave it", () => end()),
      ),
    ];
  },
  refused: ({ message }, end) => [soft(`${message}.`), actions(button("quiet", "All right", () => end()))],
};

/** @param {Notice} notice */
function noticeOf(notice) {
  /** @type {End} */
  const end = async (act) => {
    await store.dropNotice(notice.number);
    await act?.();
    await reread();
    announce();
    addBox.focus({ preventScroll: true });
  };
  return noticeBox(notice.number, titleOf(notice), ...contents[notice.kind](notice, end));
}

export function drawNotices() {
  const place = part("notices");
  const drawn = JSON.stringify(page.notices);
  // The server's own questions stay until there are some of ours.
  if ((place.dataset.drawn ?? "[]") === drawn) return;
  place.dataset.drawn = drawn;
  place.replaceChildren(...page.notices.map(noticeOf));
}
