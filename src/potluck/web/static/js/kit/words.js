// Small parts of sentences.

const rules = new Intl.PluralRules("en", { type: "ordinal" });
/** @type {Record<string, string>} */
const ENDINGS = { one: "st", two: "nd", few: "rd", other: "th" };

/** 1st, 2nd, 3rd … @param {number} number */
export const ordinal = (number) => `${number}${ENDINGS[rules.select(number)]}`;

/** 1 thing, 2 things … @param {number} number @param {string} noun */
export const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** The lines of a text that have words. @param {string} text */
export const linesOf = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Has a screen reader read it out; the same text twice would not be. @param {Element} region @param {string} text */
export function announce(region, text) {
  region.textContent = region.textContent === text ? `${text} ` : text;
}
