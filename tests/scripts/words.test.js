import assert from "node:assert/strict";
import { test } from "node:test";
import { announce, linesOf } from "../../src/potluck/web/static/js/kit/words.js";

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
