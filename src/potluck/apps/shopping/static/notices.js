// Results of changes that need a message or a decision.

import { element } from "../../../web/static/js/kit/elements.js";
import { newId } from "../../../web/static/js/kit/send.js";
import { clock } from "../../../web/static/js/kit/time.js";
import { _ } from "../../../web/static/js/kit/words.js";
import { addBox, count, make, putBack } from "./actions.js";
import { amount, inWords } from "./changes.js";
import { button, noticeBox, sentence } from "./elements.js";
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

/** As it is by now, if it is still there. @param {import("./changes.js").Item} item */
const asShown = (item) => page.shown.get(item.shoppingItemId) ?? item;

/** Its subject, in one line. @param {Notice} notice */
export function titleOf({ kind, name, existing, theirs }) {
  if (kind === "conflict")
    return isChangedByMe(theirs)
      ? _("You changed %(name)s on two devices", { name })
      : _("You and %(other)s both changed %(name)s", { name, other: theirs.updatedByName });
  if (kind === "gone") return _("%(name)s was removed from the list", { name });
  if (kind === "refused") return _("%(name)s couldn’t be changed", { name });
  return _("%(name)s is already on the list (%(amount)s)", { name: existing.name, amount: amount(asShown(existing)) });
}

/** What it says and offers, by its kind. @type {Record<string, (notice: Notice, end: End) => Node[]>} */
const contents = {
  conflict({ id, fields, mine, mineAt, theirs }, end) {
    const [time, other] = [clock(theirs.updatedAt), theirs.updatedByName];
    const theirLabel = isChangedByMe(theirs)
      ? _("Yours on the other device, %(time)s", { time })
      : _("%(other)s’s, %(time)s", { other, time });
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
      soft(_("Which version do you want to keep?")),
      element(
        "div",
        { class: "clash-two" },
        choice({ ...theirs, ...mine }, _("Yours, %(time)s", { time: clock(mineAt) }), () => end(takeMine)),
        choice(theirs, theirLabel, () => end()),
      ),
    ];
  },
  gone({ change }, end) {
    const why =
      change.kind === "status"
        ? _("You marked it as purchased, but it had already been removed.")
        : _("You changed it, but it had already been removed.");
    return [
      soft(why),
      actions(
        button("quiet", _("OK"), () => end()),
        button("soft-button", _("Add it again"), () => end(() => putBack({ ...change.was, ...change.values }))),
      ),
    ];
  },
  duplicate({ existing, change }, end) {
    const { values, shown } = change;
    const from =
      existing.addedBy === list().person.id
        ? _("You added it.")
        : _("%(name)s added it.", { name: existing.addedByName });
    const now = asShown(existing);
    const quantity = (now.quantity ?? 1) + (values.quantity ?? 1);
    const addUp = () => count(now.shoppingItemId, quantity);
    const total = amount({ ...now, quantity });
    return [
      soft(from),
      actions(
        button("", _("Make it %(amount)s", { amount: total }), () => end(addUp)),
        button("quiet", _("Add separately"), () =>
          end(() => make("add", newId(), { values, shown, allowDuplicate: true })),
        ),
        button("bare", _("Cancel"), () => end()),
      ),
    ];
  },
  refused: ({ message }, end) => [soft(sentence(message)), actions(button("quiet", _("OK"), () => end()))],
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
  const quantities = page.notices.map(({ existing }) => existing && asShown(existing).quantity);
  const drawn = page.notices.length ? JSON.stringify([page.notices, quantities]) : "[]";
  // The server's own questions stay until there are some of ours.
  if ((place.dataset.drawn ?? "[]") === drawn) return;
  place.dataset.drawn = drawn;
  place.replaceChildren(...page.notices.map(noticeOf));
}
