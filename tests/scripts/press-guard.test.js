import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

const page = new EventTarget();
globalThis.document = {};
globalThis.addEventListener = page.addEventListener.bind(page);
mock.timers.enable({ apis: ["setTimeout"] });
const { afterPress } = await import("../../src/potluck/web/static/js/kit/press-guard.js");

const happen = (type, fields = {}) => page.dispatchEvent(Object.assign(new Event(type), fields));
let done = [];
const work = (name) => () => done.push(name);

beforeEach(() => {
  mock.timers.tick(2000);
  done = [];
});

test("work is done at once while nothing is pressed", () => {
  afterPress(work("now"));
  assert.deepEqual(done, ["now"]);
});

test("work waits for the release, and for the end of its click", () => {
  happen("pointerdown");
  afterPress(work("moved"));
  happen("click");
  assert.deepEqual(done, []);
  mock.timers.tick(0);
  assert.deepEqual(done, ["moved"]);
});

test("works are done in order, also those that come right after the release", () => {
  happen("pointerdown");
  afterPress(work("first"));
  happen("click");
  afterPress(work("second"));
  mock.timers.tick(0);
  assert.deepEqual(done, ["first", "second"]);
});

test("the same work waits once", () => {
  const draw = work("drawn");
  happen("pointerdown");
  for (let time = 0; time < 3; time += 1) afterPress(draw);
  happen("click");
  mock.timers.tick(0);
  assert.deepEqual(done, ["drawn"]);
});

test("a press that becomes a scroll, or is never released, holds nothing up for long", () => {
  happen("pointerdown");
  afterPress(work("scrolled"));
  happen("pointercancel");
  mock.timers.tick(0);
  happen("pointerdown");
  afterPress(work("held"));
  mock.timers.tick(999);
  assert.deepEqual(done, ["scrolled"]);
  mock.timers.tick(2);
  assert.deepEqual(done, ["scrolled", "held"]);
});

test("the space bar is a press, and typing is none", () => {
  happen("keydown", { key: "a" });
  afterPress(work("typed"));
  happen("keydown", { key: " " });
  afterPress(work("pressed"));
  assert.deepEqual(done, ["typed"]);
  happen("keyup", { key: " " });
  mock.timers.tick(0);
  assert.deepEqual(done, ["typed", "pressed"]);
});
