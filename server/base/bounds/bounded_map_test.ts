import assert from "node:assert/strict";
import { BoundedMap } from "./bounded_map.ts";

Deno.test("BoundedMap drops what was set longest ago, and keeps what is set again and again", () => {
  const map = new BoundedMap<number, string>(100);
  for (let i = 1; i <= 10_000; i++) {
    map.set(0, `at ${i}`);
    map.set(i, "once");
  }
  const kept = [...map.entries()].map(([key]) => key).sort((a, b) => a - b);
  assert.deepEqual(kept, [0, ...Array.from({ length: 99 }, (_, i) => 9_902 + i)]);
  assert.equal(map.get(0), "at 10000");
  for (const key of kept) map.delete(key);
  assert.deepEqual([...map.entries()], []);
  for (let i = 0; i < 101; i++) map.set(i, "anew");
  assert.deepEqual([map.get(0), map.get(1)], [undefined, "anew"]);
});

interface Entry {
  name: number;
  used: boolean;
}

/** A map that keeps an entry which was used since it was last the oldest. */
function mapOfUsed(capacity: number) {
  const pinned = new Set<number>();
  const dropped: number[] = [];
  const map = new BoundedMap<number, Entry>(capacity, {
    stays(entry) {
      const { used } = entry;
      entry.used = false;
      return used || pinned.has(entry.name);
    },
    dropped: ({ name }) => dropped.push(name),
  });
  /** @returns whether it was there */
  const use = (name: number): boolean => {
    const entry = map.get(name);
    if (entry === undefined) map.set(name, { name, used: false });
    else entry.used = true;
    return entry !== undefined;
  };
  return { map, pinned, dropped, use };
}

Deno.test("BoundedMap keeps what says that it stays, and lets another busy set take its place", () => {
  const { map, use } = mapOfUsed(1_000);
  for (let i = 0; i < 300; i++) use(i);
  for (let passing = 0; passing < 100_000; passing++) {
    use(10_000 + passing);
    assert.ok(use(passing % 300), `${passing % 300} was dropped after ${passing} others`);
  }
  assert.equal(map.size, 1_000);
  for (let round = 0; round < 20; round++) for (let i = 0; i < 900; i++) use(5_000 + i);
  for (let i = 0; i < 900; i++) assert.ok(use(5_000 + i));
  assert.equal(map.get(0), undefined);
});

Deno.test("BoundedMap exceeds its capacity while all stay, comes back to it, and tells what it drops", () => {
  const { map, pinned, dropped, use } = mapOfUsed(10);
  for (let i = 0; i < 20; i++) {
    pinned.add(i);
    use(i);
  }
  assert.deepEqual([map.size, dropped], [20, []]);
  for (const newest of [20, 21]) {
    use(newest);
    assert.notEqual(map.get(newest), undefined);
  }
  assert.deepEqual([map.size, dropped], [21, [20]]);
  pinned.clear();
  for (let i = 22; i < 60; i++) use(i);
  assert.equal(map.size, 10);
  assert.equal(new Set(dropped).size, 50);
  assert.equal(dropped.length, 50);
  map.delete(59);
  assert.equal(map.get(59), undefined);
});
