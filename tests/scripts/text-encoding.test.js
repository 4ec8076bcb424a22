import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../../src/potluck/apps/library/static/text-encoding.js";

const TEXT = "Title,Author\nŒuvres,Émile Zola\n";
const utf16 = (text) => new Uint8Array(Buffer.from(text, "utf16le"));
const swapped = (text) => new Uint8Array(Buffer.from(text, "utf16le").swap16());

test("a file is read whatever program wrote it", () => {
  assert.equal(decode(new TextEncoder().encode(TEXT)), TEXT);
  assert.equal(decode(new TextEncoder().encode(`\ufeff${TEXT}`)), TEXT);
  for (const bytes of [utf16(TEXT), swapped(TEXT), utf16(`\ufeff${TEXT}`), swapped(`\ufeff${TEXT}`)])
    assert.equal(decode(bytes), TEXT);
});

test("what is not UTF-8 is what Excel writes in western countries", () => {
  assert.equal(decode(Uint8Array.from([0x5a, 0x6f, 0xe9, 0x0a])), "Zoé\n");
});
