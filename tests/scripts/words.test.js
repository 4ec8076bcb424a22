import assert from "node:assert/strict";
import { test } from "node:test";
import { announce, counted, linesOf, ordinal } from "../../src/potluck/web/static/js/kit/words.js";

test("numbers in words", () => {
  assert.deepEqual([1, 2, 3, 4, 11, 12, 21, 102].map(ordinal), [
    "1st",
    "2nd",
    "3rd",
    "4th",
    "11th",
    "12th",
    "21st",
    "102nd",
  ]);
  assert.deepEqual(
    [0, 1, 2].map((number) => counted(number, "thing")),
    ["0 things", "1 thing", "2 things"],
  );
});

test("lines with words", () => {
  assert.deepEqual(linesOf(" tea \n\n  \nrice"), ["tea", "rice"]);
});

test("the same words twice are different to a screen reader", () => {
  const region = { textContent: "" };
  announce(region, "Tea is 1st.");
  const before = region.textContent;
  announce(region, "Tea is 1st.");
  assert.notEqual(region.textContent, before);
});
