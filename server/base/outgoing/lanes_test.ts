import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { Lane } from "./lane.ts";
import { Lanes } from "./lanes.ts";
import type { OutgoingHandler } from "./outgoing_handler.ts";
import { laneKey } from "./outgoing_row.ts";
import type { Store } from "../storage/rows/store.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = 1_000 * HOUR_MS;

function openLanes(): Lanes {
  const handler: OutgoingHandler = {
    kind: "test",
    concurrency: 100,
    longestPauseMs: HOUR_MS,
    attempt: () => Promise.reject(new Error("nothing is attempted")),
  };
  const lanes = new Lanes();
  lanes.register(handler);
  return lanes;
}

const destinationsOf = (lanes: Iterable<Lane>) =>
  [...lanes].map(({ destination }) => destination).sort();

Deno.test("Lanes finds each lane once a row of it is due, however the clock goes", () => {
  const waking = fc.record({ lane: fc.nat(9), inMs: fc.integer({ min: -5, max: 200_000 }) });
  const passing = fc.oneof(
    fc.integer({ min: 0, max: 90_000 }),
    fc.constantFrom(-HOUR_MS, -1, 59_999, 60_000, 60_001, HOUR_MS),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(waking, passing), { maxLength: 60 }), (steps) => {
      const lanes = openLanes();
      const dueMs = new Map<string, number>();
      let nowMs = NOW_MS;
      for (const step of steps) {
        if (typeof step === "number") nowMs += step;
        else {
          const destination = String(step.lane);
          const atMs = nowMs + step.inMs;
          dueMs.set(destination, Math.min(dueMs.get(destination) ?? Infinity, atMs));
          lanes.wake("test", destination, atMs);
        }
        const due = [...dueMs].filter(([, atMs]) => atMs <= nowMs).map(([name]) => name).sort();
        assert.deepEqual(destinationsOf(lanes.wanting(nowMs)), due);
      }
    }),
  );
});

Deno.test("Lanes looks at thousands of destinations that wait for hours once a minute, not at each turn", () => {
  const lanes = openLanes();
  for (let i = 0; i < 5_000; i++) lanes.wake("test", `far ${i}`, NOW_MS + HOUR_MS);
  lanes.wake("test", "due", NOW_MS);
  let looks = 0;
  const { wants } = Lane.prototype;
  Lane.prototype.wants = function (nowMs) {
    looks++;
    return wants.call(this, nowMs);
  };
  try {
    for (let turn = 0; turn < 100; turn++) {
      assert.deepEqual(destinationsOf(lanes.wanting(NOW_MS + turn)), ["due"]);
    }
    assert.ok(looks <= 200, String(looks));
    assert.equal(destinationsOf(lanes.wanting(NOW_MS + HOUR_MS)).length, 5_001);
  } finally {
    Lane.prototype.wants = wants;
  }
});

Deno.test("Lanes finds thousands of destinations in some reads, and not all rows of one", async () => {
  const rowsOf = (destination: string, count: number): Deno.KvKey[] =>
    Array.from({ length: count }, (_, n) => laneKey("test", destination, NOW_MS + n, `row ${n}`));
  const names = Array.from({ length: 5_000 }, (_, n) => `few ${String(n).padStart(4, "0")}`);
  const keys = [...names.flatMap((name) => rowsOf(name, 1)), ...rowsOf("many", 5_000)];
  let [reads, taken] = [0, 0];
  // Keys as they are sorted; `true` in the place of a due time comes after all of a destination.
  const list = ({ start }: { start?: Deno.KvKey }, { limit }: { limit: number }) => {
    const from = start === undefined ? 0 : keys.findLastIndex((key) => key[2] === start[2]) + 1;
    const found = keys.slice(from, from + limit);
    reads++;
    taken += found.length;
    return Promise.resolve(found.map((key) => ({ key, value: {}, versionstamp: "" })));
  };
  const lanes = openLanes();
  await lanes.discover({ list: list as unknown as Store["list"] });
  assert.deepEqual(destinationsOf(lanes.wanting(NOW_MS)), [...names, "many"].sort());
  assert.ok(reads <= 20, String(reads));
  assert.ok(taken <= 6_000, String(taken));
});
