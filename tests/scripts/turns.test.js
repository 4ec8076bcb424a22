import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { coalesced, retries } from "../../src/potluck/web/static/js/kit/turns.js";

test("work never overlaps, and calls meanwhile are one more time", async () => {
  const ends = [];
  let running = 0;
  let times = 0;
  const work = coalesced(async () => {
    running += 1;
    assert.equal(running, 1);
    times += 1;
    await new Promise((resolve) => ends.push(resolve));
    running -= 1;
    return times;
  });
  const all = [work(), work(), work()];
  ends[0]();
  await new Promise(setImmediate);
  ends[1]();
  assert.deepEqual(await Promise.all(all), [2, 2, 2]);
  assert.equal(times, 2);
});

test("once it is done, the next call begins anew", async () => {
  let times = 0;
  const work = coalesced(async (before) => {
    assert.equal(before, undefined);
    times += 1;
  });
  await work();
  await work();
  assert.equal(times, 2);
});

test("after a failure it can be tried again", async () => {
  let fails = true;
  const work = coalesced(async () => {
    if (fails) throw new Error("not now");
    return "done";
  });
  await assert.rejects(work());
  fails = false;
  assert.equal(await work(), "done");
});

test("pauses between attempts grow, and begin anew after a success", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let times = 0;
  const attempts = retries(() => {
    times += 1;
  });
  const triedAfter = (pause) => {
    const before = times;
    attempts.soon();
    mock.timers.tick(pause - 1);
    assert.equal(times, before);
    mock.timers.tick(1);
    return times - before;
  };
  assert.deepEqual([1500, 2400, 3840].map(triedAfter), [1, 1, 1]);
  attempts.reset();
  assert.equal(triedAfter(1500), 1);
  attempts.soon();
  attempts.cancel();
  mock.timers.tick(60_000);
  assert.equal(times, 4);
  mock.timers.reset();
});
