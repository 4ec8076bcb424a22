// Parses things to buy as people type or paste them: one per line, optionally with an amount in front. The same rules
// as in line_parser.py, for use offline; a test checks that the two agree.

/** @typedef {{ name: string, quantity: number | null, unit: string | null }} Line */

const MOST = 100_000;
const BULLET = /^(?:[-*•‣–+]\s+|[☐☑✓]\s*|\[[ xX]?\]\s*)+/;
const AMOUNT = /^([1-9][0-9]{0,5})\s*(?:[x×]\s+|(kg|g|ml|cl|dl|l|oz|lb|lbs)\s+|\s)\s*(?=\S)/i;
// As Python's splitlines.
// biome-ignore lint/suspicious/noControlCharactersInRegex: separators between records
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** @param {string} text @returns {Line[]} */
export function readLines(text) {
  const lines = [];
  for (const line of text.split(LINE_END)) {
    const rest = line.trim().replace(BULLET, "");
    if (!rest) continue;
    const amount = AMOUNT.exec(rest);
    if (!amount || Number(amount[1]) > MOST) lines.push({ name: rest, quantity: null, unit: null });
    else
      lines.push({
        name: rest.slice(amount[0].length),
        quantity: Number(amount[1]),
        unit: amount[2]?.toLowerCase() ?? null,
      });
  }
  return lines;
}

/** A search key that ignores accents, case and spacing. @param {string} text */
export const fold = (text) =>
  text
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .trim()
    .replace(/\s+/g, " ");
