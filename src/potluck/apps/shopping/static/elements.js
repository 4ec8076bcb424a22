// Elements that several of the pages are made of.

import { element, one } from "../../../web/static/js/kit/elements.js";
import { toast } from "../../../web/static/js/kit/toast.js";
import { _ } from "../../../web/static/js/kit/words.js";

/** An icon that the page has ready. @param {string} name */
export const icon = (name) =>
  one(one(document, "#icons", HTMLTemplateElement).content, `[data-icon="${name}"] > svg`).cloneNode(true);

/**
 * A toast with a button that undoes it. `undo` resolves to where the thing is then, so that keyboard users continue there.
 * @param {string} text
 * @param {() => Promise<HTMLElement | null | undefined>} undo
 */
export function undoable(text, undo) {
  const button = element("button", { type: "button" }, icon("undo-2"), _("Undo"));
  const shown = toast(text, button);
  button.addEventListener("click", async (event) => {
    shown.remove();
    const there = await undo();
    if (event.detail === 0) there?.focus();
  });
}

/** With a full stop, which the API’s messages do not have. @param {string} message */
export const sentence = (message) => (/[.?!]$/.test(message) ? message : `${message}.`);

// A message with a heading, and what can be done about it.
/** @param {number} number @param {string} title @param {...Node} content */
export const noticeBox = (number, title, ...content) =>
  element(
    "section",
    { class: "clash", "aria-labelledby": `notice-${number}` },
    element("h2", { id: `notice-${number}` }, title),
    ...content,
  );

/** @param {string} kind @param {string} text @param {() => void} act */
export const button = (kind, text, act) =>
  element("button", { type: "button", class: kind || null, onclick: act }, text);
