// Importing a journal: choose the file, see a preview, and only then write anything.

import { all, element, enable, maybe, one, stamp } from "../../../web/static/js/kit/elements.js";
import { send } from "../../../web/static/js/kit/send.js";
import { _, locale, ngettext } from "../../../web/static/js/kit/words.js";

const ADDRESS = "/api/v1/journal/import";
const LARGEST = 10_000_000;
const MOST_WRONG = 20;
// In milliseconds: years of training take their time.
const PATIENCE = 10 * 60_000;
const days = new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", year: "numeric" });

/**
 * What to say about a refusal, and everything that is wrong in the file.
 * @param {import("../../../web/static/js/kit/send.js").Answer} answer
 * @param {string} lost
 */
function refusal({ outcome, status, body }, lost) {
  if (outcome === "no-signal") return [lost];
  if (outcome === "signed-out") return [_("You’re signed out. Sign in and try again.")];
  if (status === 413) return [_("The file is larger than 10 MB.")];
  if (status !== 422) return [body?.detail ?? _("The import failed. Try again in a moment.")];
  /** @type {{ field: string, message: string }[]} */
  const errors = body?.errors ?? [];
  // An error in a part of a journal: then the file is one.
  if (!errors.some(({ field }) => /^(profiles?|entries|threads|links)[.[]/.test(field)))
    return [_("This file is not a journal export.")];
  const wrong = errors.slice(0, MOST_WRONG).map(({ message }) => message);
  const more = errors.length - MOST_WRONG;
  const others = more > 0 ? [ngettext("and %(num)s more", "and %(num)s more", more)] : [];
  return [_("Nothing was imported, because the file has errors."), ...wrong, ...others];
}

/** Says it in the place, with a list of what is wrong below. @param {Element} place @param {string[]} words */
function say(place, [text, ...wrong]) {
  if (place.nextElementSibling?.matches("ul.wrong")) place.nextElementSibling.remove();
  place.textContent = text;
  if (!wrong.length) return;
  const lines = wrong.map((line) => element("li", {}, line));
  place.after(element("ul", { class: "wrong", "aria-label": _("Errors") }, ...lines));
}

/** @param {Element} list @param {any} counts */
function showNumbers(list, { entries, comments, threads, alreadyHere }) {
  const numbers = [
    [_("new entries"), entries],
    [_("comments"), comments],
    [_("threads"), threads],
    [_("already here"), alreadyHere],
  ];
  list.replaceChildren(
    ...numbers.map(([name, count]) => element("div", {}, element("dt", {}, name), element("dd", {}, String(count)))),
  );
}

/** @param {HTMLFormElement} form @param {any} file @param {string} text */
function showPreview(form, file, text) {
  const section = stamp("import-preview");
  const [head, list, bar, take] = ["[data-whose]", "[data-numbers]", "progress", "[data-take]"].map((part) =>
    one(section, part),
  );
  const actions = one(section, ".actions");
  const { name, first, last } = file;
  const [from, to] = [first, last].map((at) => at && days.format(new Date(at)));
  head.textContent = first
    ? _("%(name)s’s journal, %(first)s to %(last)s", { name, first: from, last: to })
    : _("%(name)s’s journal", { name });
  showNumbers(list, file);
  take.addEventListener("click", async () => {
    enable(take, false);
    bar.hidden = false;
    const answer = await send(ADDRESS, { json: text, wait: PATIENCE });
    bar.hidden = true;
    if (answer.outcome === "done") {
      head.textContent = _("Import finished");
      showNumbers(list, answer.body);
      actions.replaceChildren(element("a", { class: "button", href: "/journal/entries" }, _("Open timeline")));
      head.focus();
      return;
    }
    enable(take, true);
    for (const before of all(section, ".error, ul.wrong")) before.remove();
    const status = element("p", { class: "error", role: "alert" });
    actions.before(status);
    say(status, refusal(answer, _("The connection was lost. What was imported stays. Try again.")));
  });
  form.replaceWith(section);
  head.focus();
}

const form = maybe(document, "[data-import]", HTMLFormElement);

if (form) {
  const status = one(form, "[data-import-said]");
  for (const pasted of all(form, "[data-pasted]")) pasted.hidden = true;
  one(form, "[data-chosen]").hidden = false;
  const field = one(form, "[type=file]", HTMLInputElement);
  field.addEventListener("change", async () => {
    const [file] = field.files ?? [];
    if (!file) return;
    say(status, [file.size > LARGEST ? _("The file is larger than 10 MB.") : _("Reading the file…")]);
    if (file.size > LARGEST) return;
    const text = await file.text();
    if (text.startsWith("PK")) {
      say(status, [_("This is a zip file. Unpack it, then choose journal.json.")]);
      return;
    }
    const answer = await send(`${ADDRESS}/preview`, { json: text, wait: PATIENCE });
    if (answer.outcome === "done") showPreview(form, answer.body, text);
    else say(status, refusal(answer, _("The connection was lost. Try again when you’re online.")));
  });
}
