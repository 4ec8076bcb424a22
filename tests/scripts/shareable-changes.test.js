// Pending ticks and additions of a list.

import assert from "node:assert/strict";
import { test } from "node:test";
import { joined, wanted } from "../../src/potluck/apps/shareables/static/changes.js";

const tick = (done, more = {}) => ({ seq: 1, kind: "tick", id: "stove", values: { done }, sent: false, ...more });

test("of several ticks of an item the last one is sent", () => {
  assert.deepEqual(joined([tick(true)], tick(false, { seq: 2 })).put, [tick(false)]);
});

test("a tick that may have reached the server is not changed", () => {
  const second = tick(false, { seq: 2 });
  assert.deepEqual(joined([tick(true, { sent: true })], second).put, [second]);
});

test("each item is shown as its last tick wants it", () => {
  const add = { kind: "add", id: "torch", values: {} };
  assert.deepEqual([...wanted([tick(true), add, tick(false)])], [["stove", false]]);
});
