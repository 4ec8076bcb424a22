import assert from "node:assert/strict";
import { test } from "node:test";
import * as changes from "../../src/potluck/apps/shopping/static/changes.js";

const person = { id: "ada", name: "Ada" };
const rice = {
  shoppingItemId: "rice",
  name: "Rice",
  status: "pending",
  quantity: 1,
  version: 3,
  createdAt: "2026-01-02T00:00:00Z",
};
const change = (kind, details = {}) => ({
  kind,
  id: "rice",
  seq: 1,
  at: 5,
  values: {},
  before: {},
  sent: false,
  ...details,
});
const tick = (status, before = "pending") => change("status", { values: { status }, before: { status: before } });
const edit = (values, before = {}, more = {}) => change("edit", { values, before, ...more });

test("pending changes are applied in order", () => {
  const added = change("add", { id: "tea", values: { name: "Tea" }, shown: { unit: "bags" } });
  const pending = [edit({ quantity: 2 }), tick("purchased"), added, change("delete", { id: "tea" })];
  const { all, waiting } = changes.withChanges(new Map([["rice", rice]]), pending, person);
  assert.deepEqual([...all.keys()], ["rice"]);
  assert.equal(all.get("rice").quantity, 2);
  assert.equal(all.get("rice").status, "purchased");
  assert.deepEqual([...waiting.keys()], ["rice", "tea"]);
});

test("an addition is shown as the person's own until the server answers", () => {
  const added = change("add", { id: "tea", values: { name: "Tea" }, shown: { unit: "bags" } });
  const tea = changes.withChanges(new Map(), [added], person).all.get("tea");
  assert.equal(tea.addedByName, "Ada");
  assert.equal(tea.unit, "bags");
  assert.equal(tea.version, 0);
});

test("changes of one thing are joined while they wait", () => {
  assert.deepEqual(
    changes.joined([edit({ name: "Rce" }, { name: "Rice" })], edit({ unit: "kg" }, { unit: null })).put[0].values,
    {
      name: "Rce",
      unit: "kg",
    },
  );
  assert.deepEqual(changes.joined([tick("purchased")], tick("pending", "purchased")), { drop: [1], put: [] });
  const steps = changes.joined([change("adjust", { values: { by: 2 } })], change("adjust", { values: { by: -3 } }));
  assert.deepEqual(steps.put[0].values, { by: -1 });
  assert.deepEqual(changes.joined([change("add")], change("delete")), { drop: [1], put: [] });
});

test("what may have reached the server is never changed", () => {
  const { drop, put } = changes.joined(
    [edit({ quantity: 2 }, {}, { sent: true })],
    edit({ quantity: 3 }, {}, { seen: 3 }),
  );
  assert.deepEqual(drop, []);
  assert.equal(put[0].values.quantity, 3);
  assert.equal(put[0].seen, null);
});

test("only fields that both changed to different values clash", () => {
  const mine = edit({ name: "Red rice", quantity: 4, unit: "kg" }, { name: "Rice", quantity: 1, unit: null });
  assert.deepEqual(changes.clashes(mine, { ...rice, name: "Brown rice", quantity: 4, unit: null }), ["name"]);
});

test("what an addition comes to where another member added the same", () => {
  const added = change("add", { values: { name: "Tea" } });
  assert.deepEqual(changes.netResult([added, change("delete")]), {});
  assert.equal(changes.netResult([added, tick("purchased")]).tick.values.status, "purchased");
  assert.deepEqual(changes.netResult([added, edit({ quantity: 2 })]).values, { name: "Tea", quantity: 2 });
});

test("groups are by store, unassigned last, newest first", () => {
  const item = (name, storeId, createdAt) => ({ ...rice, shoppingItemId: name, name, storeId, createdAt });
  const items = [
    item("Tea", null, "2026-01-01T00:00:00Z"),
    item("Salt", "s2", "2026-01-01T00:00:00Z"),
    item("Figs", "s1", "2026-01-01T00:00:00Z"),
    item("Oil", "s1", "2026-01-03T00:00:00Z"),
  ];
  const names = new Map([
    ["s1", "Émile’s"],
    ["s2", "Zest"],
  ]);
  const shown = changes
    .groups(items, names)
    .map(({ name, items: inside }) => [name, ...inside.map((item) => item.name)]);
  assert.deepEqual(shown, [
    ["Émile’s", "Oil", "Figs"],
    ["Zest", "Salt"],
    ["Any store", "Tea"],
  ]);
});

test("changes in words", () => {
  const names = new Map([["s1", "Corner"]]);
  const words = (wanted) => changes.changeInWords({ ...wanted, was: rice }, names);
  assert.equal(words(tick("purchased")), "Rice: purchased");
  assert.equal(words(edit({ quantity: 3, unit: "kg", storeId: "s1" })), "Rice: 3 kg, Corner");
  assert.equal(words(change("adjust", { values: { by: -2 } })), "Rice: 2 fewer at home");
  assert.equal(words(change("delete")), "Remove Rice");
});
