// Texts in the language of the page, and small parts of sentences.
//
//   _("Add %(name)s", { name })
//   ngettext("%(num)s item", "%(num)s items", items.length)
//
// English is in the scripts. A page in another language loads its messages before any module runs.

/** @typedef {string | number} Value */
/** @typedef {Record<string, string | Record<string, string>>} Messages */

/** @returns {Messages} */
const messages = () => /** @type {{ potluckWords?: Messages }} */ (globalThis).potluckWords ?? {};

const tag = () => globalThis.document?.documentElement.lang || "en";

/** The locale of the page, for Intl. */
export const locale = () => (tag() === "en" ? "en-GB" : tag());

/** A message, with a value for each %(name)s in it. @param {string} message @param {Record<string, Value>} [values] */
export function _(message, values) {
  const text = messages()[message];
  return filled(typeof text === "string" ? text : message, values);
}

/**
 * A message about a number of things, which is %(num)s in it.
 * @param {string} singular @param {string} plural @param {number} count @param {Record<string, Value>} [values]
 */
export function ngettext(singular, plural, count, values) {
  const forms = messages()[singular];
  const english = count === 1 ? singular : plural;
  const text = typeof forms === "object" ? (forms[new Intl.PluralRules(tag()).select(count)] ?? forms.other) : english;
  return filled(text, { num: numbered(count), ...values });
}

/** A number with its digits grouped. @param {number} number */
export const numbered = (number) => new Intl.NumberFormat(locale()).format(number);

/** @param {string} text @param {Record<string, Value>} [values] */
const filled = (text, values) =>
  values ? text.replace(/%\((\w+)\)s|%%/g, (found, name) => (name ? String(values[name] ?? found) : "%")) : text;

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
