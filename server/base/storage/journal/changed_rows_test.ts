import assert from "node:assert/strict";
import fc from "fast-check";
import { propertyRuns } from "../../../../tests/support/property_runs.ts";
import type { Row } from "../rows/backend.ts";
import { type ChangedRow, ChangedRows } from "./changed_rows.ts";
import { orderedName, rangeOf } from "./key_order.ts";

const keyOf = (id: number): Deno.KvKey => ["row", id];

function changed(id: number, value: unknown, unsaved = true): ChangedRow {
  const key = keyOf(id);
  return {
    name: orderedName(key),
    key,
    value,
    versionstamp: value === undefined ? null : `f${id}`,
    expiresAtMs: undefined,
    sizeBytes: 10,
    unsaved,
  };
}

const none = () => false;

Deno.test("merge() gives the first rows of a range as memory and the store have them together, or asks for more", () => {
  const id = fc.integer({ min: 0, max: 40 });
  fc.assert(
    fc.property(
      fc.uniqueArray(id, { maxLength: 30 }),
      fc.array(fc.tuple(id, fc.constantFrom(undefined, "new")), { maxLength: 30 }),
      fc.record({ from: id, to: id }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(1, 2, 8),
      fc.boolean(),
      (stored, changes, bounds, limit, factor, reverse) => {
        const rows = new ChangedRows();
        const model = new Map<number, string>(stored.map((one) => [one, "stored"]));
        for (const [one, value] of changes) {
          rows.put(changed(one, value));
          if (value === undefined) model.delete(one);
          else model.set(one, value);
        }
        const isWithin = (one: number) => one >= bounds.from && one < bounds.to;
        const inOrder = (ids: Iterable<number>) =>
          [...ids].filter(isWithin).sort((a, b) => reverse ? b - a : a - b);
        const most = limit * factor;
        const found = inOrder(stored).slice(0, most)
          .map((one): Row<unknown> => ({ key: keyOf(one), value: "stored", versionstamp: "0" }));
        const range = rangeOf({ start: keyOf(bounds.from), end: keyOf(bounds.to) });
        const merged = rows.merge(found, range, { most, limit, reverse });
        const expected = inOrder(model.keys()).slice(0, limit);
        if (merged === null) {
          assert.equal(found.length, most);
          assert.ok(found.filter(({ key }) => model.has(key[1] as number)).length < limit);
          return;
        }
        assert.deepEqual(
          merged.map(({ key, value }) => [key[1], value]),
          expected.map((one) => [one, model.get(one)]),
        );
      },
    ),
    propertyRuns(1_000),
  );
});

Deno.test("what is saved leaves when all reads that began before have ended, unless it has changed again", async () => {
  const rows = new ChangedRows();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [a, b] = [changed(1, "a"), changed(2, "b")];
  rows.put(a);
  rows.put(b);
  assert.deepEqual(rows.unsaved, { rows: 2, bytes: 20 });
  const reads = [rows.read(() => first.promise, none, () => rows.get(a.name)?.value)];
  rows.saved([a, b]);
  assert.deepEqual(rows.unsaved, { rows: 0, bytes: 0 });
  reads.push(rows.read(() => second.promise, none, () => rows.get(a.name)?.value));
  rows.put(changed(2, "again"));
  assert.equal(rows.get(a.name), a);
  first.resolve();
  assert.equal(await reads[0], "a");
  assert.equal(rows.get(a.name), undefined);
  assert.equal(rows.get(b.name)?.value, "again");
  assert.deepEqual(rows.inOrder().map(({ value }) => value), ["again"]);
  second.resolve();
  assert.equal(await reads[1], undefined);
  assert.deepEqual(rows.unsaved, { rows: 1, bytes: 10 });
});

Deno.test("a read that fails keeps nothing", async () => {
  const rows = new ChangedRows();
  const answer = Promise.withResolvers<void>();
  rows.put(changed(1, "a"));
  const read = rows.read(() => answer.promise, none, () => null);
  rows.saved([rows.get(orderedName(keyOf(1)))!]);
  answer.reject(new Error("database is gone"));
  await assert.rejects(read, { message: "database is gone" });
  assert.equal(rows.get(orderedName(keyOf(1))), undefined);
});

Deno.test("a read waits for the commits that write its rows directly, and for no others", async () => {
  const rows = new ChangedRows();
  const ended = Promise.withResolvers<void>();
  const { name } = changed(1, "a");
  const written = rows.writes([name], ended.promise);
  const heard: string[] = [];
  const reads = [
    rows.read(() => Promise.resolve(), (one) => one === name, () => heard.push("its own")),
    rows.read(() => Promise.resolve(), none, () => heard.push("other")),
  ];
  await reads[1];
  assert.deepEqual(heard, ["other"]);
  ended.resolve();
  await written;
  await reads[0];
  assert.deepEqual(heard, ["other", "its own"]);
});
