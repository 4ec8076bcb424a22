import assert from "node:assert/strict";
import { test } from "node:test";

process.env.TZ = "Europe/Berlin";
const { asLocal, clock, day, short } = await import("../../src/potluck/web/static/js/kit/time.js");
const now = new Date("2026-12-13T18:00:00Z");

test("a time is short where little says enough", () => {
  assert.equal(short(new Date("2026-12-13T16:42:00Z"), now), "17:42");
  assert.equal(short(new Date("2026-12-09T16:42:00Z"), now), "Wed");
  assert.equal(short(new Date("2026-11-30T16:42:00Z"), now), "30 Nov");
});

test("a day has its year if it is not this one", () => {
  assert.equal(day(new Date("2026-12-13T16:42:00Z"), now), "Sunday 13 December");
  assert.equal(day(new Date("2027-01-02T16:42:00Z"), now), "Saturday, 2 January 2027");
});

test("a clock and a field have the person's own time, in summer and in winter", () => {
  assert.equal(clock("2026-12-13T16:42:00Z"), "17:42");
  assert.equal(asLocal(new Date("2026-12-13T23:30:00Z")), "2026-12-14T00:30");
  assert.equal(asLocal(new Date("2026-07-13T22:30:00Z")), "2026-07-14T00:30");
});
