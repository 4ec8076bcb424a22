// Which saved pages may be shown, to which person, and what makes room.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isAbout,
  isSamePerson,
  isShown,
  MOST_CHARACTERS,
  MOST_PAGES,
  othersOf,
  surplusOf,
  UNKNOWN,
} from "../../src/potluck/web/static/js/kit/saved-pages.js";

const page = (more = {}) => ({ address: "/polls", person: "mara", at: 10, until: 100, title: "", size: 10, ...more });
const device = (more = {}) => ({ ...UNKNOWN, who: "mara", ...more });

test("a page is shown to the person it was saved for, and to no one else", () => {
  assert.equal(isShown(page(), device(), 50), true);
  for (const who of ["leo", "", null]) assert.equal(isShown(page(), device({ who }), 50), false);
  assert.equal(isShown(page({ person: "" }), device({ who: "" }), 50), true);
  assert.equal(isShown(page({ person: "" }), device(), 50), false);
});

test("nothing is shown while a sign-out waits for the network", () => {
  assert.equal(isShown(page(), device({ leaving: true }), 50), false);
});

test("a page that has expired does not come back when the clock is set back", () => {
  assert.equal(isShown(page(), device(), 100), false);
  assert.equal(isShown(page(), device({ latest: 100 }), 5), false);
});

test("another person's pages are deleted, but not because a session ended", () => {
  const pages = [page(), page({ address: "/x", person: "leo" }), page({ address: "/y", person: "" })];
  assert.deepEqual(othersOf(pages, "leo"), ["/polls", "/y"]);
  assert.deepEqual(othersOf(pages, ""), []);
});

test("expired pages go first, then the oldest, until there is room", () => {
  const pages = Array.from({ length: MOST_PAGES + 2 }, (_, at) => page({ address: `/${at}`, at }));
  assert.deepEqual(surplusOf([page({ address: "/old", at: 99, until: 40 }), ...pages], 50), ["/old", "/1", "/0"]);
  const large = [1, 2, 3].map((at) => page({ address: `/${at}`, at, size: MOST_CHARACTERS / 2 }));
  assert.deepEqual(surplusOf(large, 50), ["/1"]);
});

test("a thing's pages are its own and those below it", () => {
  assert.equal(isAbout("/library/1/items/2", "/library/1"), true);
  assert.equal(isAbout("/library/12", "/library/1"), false);
  assert.equal(isAbout("/polls", "/"), false);
});

test("the beginning of an id names the same person", () => {
  assert.equal(isSamePerson("3f2b8c1e", "3f2b8c1e-0000-4000-8000-000000000000"), true);
  assert.equal(isSamePerson("", "3f2b8c1e"), false);
});
