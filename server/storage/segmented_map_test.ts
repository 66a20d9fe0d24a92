import assert from "node:assert/strict";
import { seededRandom } from "../../bench/seeded_random.ts";
import { type Counted, SegmentedMap, type SegmentedMapOptions } from "./segmented_map.ts";

interface Entry extends Counted {
  name: number;
}

function mapOf(capacity: number, options?: SegmentedMapOptions<number, Entry>) {
  const map = new SegmentedMap<number, Entry>(capacity, options);
  /** @returns whether it was there */
  const use = (name: number): boolean => {
    if (map.get(name) !== undefined) return true;
    map.add(name, { name, uses: 0 });
    return false;
  };
  return { map, use };
}

Deno.test("SegmentedMap keeps a busy set that nearly fills it while others pass by once", () => {
  const { map, use } = mapOf(1_000);
  const random = seededRandom(1);
  const below = (limit: number) => Math.floor(random() * limit);
  let uses = 0;
  let hits = 0;
  for (let i = 0; i < 200_000; i++) {
    if (random() < 0.5) {
      use(1_000 + below(1_000_000));
      continue;
    }
    const wasThere = use(below(800));
    if (i < 100_000) continue;
    uses++;
    if (wasThere) hits++;
  }
  assert.equal(map.size, 1_000);
  assert.ok(hits / uses > 0.97, `${hits} of ${uses} uses of the busy set were in memory`);
});

Deno.test("SegmentedMap lets another busy set take the place of the former one", () => {
  const { use } = mapOf(1_000);
  for (let round = 0; round < 20; round++) for (let i = 0; i < 800; i++) use(i);
  for (let round = 0; round < 200; round++) for (let i = 0; i < 50; i++) use(5_000 + i);
  for (let i = 0; i < 50; i++) assert.ok(use(5_000 + i));
});

Deno.test("SegmentedMap takes in for good what comes back soon after it left", () => {
  const { map, use } = mapOf(1_000);
  for (let round = 0; round < 3; round++) for (let i = 0; i < 900; i++) use(i);
  // Each of the new busy ones comes again only when all newcomers of its time have left.
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 300; i++) use(5_000 + i);
  }
  for (let i = 0; i < 300; i++) assert.notEqual(map.peek(5_000 + i), undefined);
});

Deno.test("SegmentedMap counts a use only from as many on as its user says", () => {
  const { map, use } = mapOf(100, { usesToStay: 2 });
  for (let i = 0; i < 100; i++) use(i);
  for (let i = 10; i < 100; i++) use(i);
  for (let i = 0; i < 10; i++) for (let n = 0; n < 2; n++) use(i);
  for (let i = 0; i < 200; i++) use(2_000 + i);
  assert.deepEqual(
    Array.from({ length: 100 }, (_, i) => i).filter((i) => map.peek(i) !== undefined),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
});

Deno.test("SegmentedMap never drops what is pinned, and tells what it drops", () => {
  const pinned = new Set<number>();
  const dropped: number[] = [];
  const { map, use } = mapOf(10, {
    isPinned: ({ name }) => pinned.has(name),
    dropped: (key, { name }) => {
      assert.equal(key, name);
      dropped.push(name);
    },
  });
  for (let i = 0; i < 20; i++) {
    pinned.add(i);
    use(i);
  }
  assert.deepEqual([map.size, dropped], [20, []]);
  pinned.clear();
  for (let i = 20; i < 60; i++) use(i);
  assert.equal(map.size, 10);
  assert.equal(new Set(dropped).size, 50);
  map.delete(59);
  assert.equal(map.peek(59), undefined);
});
