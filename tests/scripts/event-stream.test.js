import assert from "node:assert/strict";
import { test } from "node:test";
import { parser } from "../../src/potluck/web/static/js/kit/event-stream.js";

const STREAM =
  "retry: 1000\n\nid: 7\nevent: created\ndata: <li>\ndata: a: b</li>\n\n:\n\nid: 8\n\nevent: reset\ndata: {}\n\n";

/** The blocks of a stream that comes in pieces of this size. */
function blocks(size) {
  const emitted = [];
  const parse = parser((fields) => emitted.push(fields));
  for (let at = 0; at < STREAM.length; at += size) parse(STREAM.slice(at, at + size));
  return emitted;
}

test("a block has its fields, and lines of data stay lines", () => {
  assert.deepEqual(blocks(STREAM.length), [
    { retry: "1000" },
    { id: "7", event: "created", data: "<li>\na: b</li>" },
    { "": "" },
    { id: "8" },
    { event: "reset", data: "{}" },
  ]);
});

test("it does not matter where a stream is cut into pieces", () => {
  for (let size = 1; size < STREAM.length; size += 1) assert.deepEqual(blocks(size), blocks(STREAM.length));
});

test("a message that is not whole yet is not emitted", () => {
  const emitted = [];
  parser((fields) => emitted.push(fields))("event: created\ndata: x\n");
  assert.deepEqual(emitted, []);
});
