import { openMemoryKv, SAVED_AT_ONCE } from "../../../tests/support/read_through.ts";
import { storeOn } from "../../../tests/support/store_on.ts";
import assert from "node:assert/strict";
import { createTestClock } from "../../../tests/support/clock.ts";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { Leases } from "../../base/storage/leases/leases.ts";
import { firstCountedMinute, minuteOf, WINDOW_MINUTES } from "./counted.ts";
import { Standings } from "./standings.ts";
import { Tally } from "./tally.ts";
import {
  type CheckpointRow,
  type Count,
  deltaKey,
  encodeCounts,
  hourOf,
  TALLY_STATE,
  type TallyState,
} from "./tally_rows.ts";
import fc from "../../../tests/support/seeded_fast_check.ts";

const MINUTE_MS = 60_000;
const CHECKPOINTS = { prefix: ["tally", "checkpoint"] };

type Act =
  /** A group commit counts sends, or a sweep moves counts, in minutes before now. */
  | { act: "count"; counts: { senderId: number; minutesAgo: number; count: number }[] }
  | { act: "advance"; minutes: number }
  | { act: "tidy" }
  | { act: "restart" }
  /** The checkpoint becomes one of a relay that did not count by the hour; then a restart. */
  | { act: "forget hours" }
  | { act: "read" };

const minutesAgo = fc.oneof(
  fc.integer({ min: 0, max: 2 }),
  // Where the window ends: the last minutes in it, and the first ones outside.
  fc.integer({ min: WINDOW_MINUTES - 62, max: WINDOW_MINUTES - 59 }),
  fc.integer({ min: WINDOW_MINUTES - 2, max: WINDOW_MINUTES + 1 }),
);
const count = fc.record({
  senderId: fc.integer({ min: 1, max: 3 }),
  minutesAgo,
  count: fc.constantFrom(1, 1, 2, 3, -1),
});
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant("count" as const),
      counts: fc.array(count, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("advance" as const),
      minutes: fc.constantFrom(1, 1, 2, 3, 61, WINDOW_MINUTES - 2, WINDOW_MINUTES + 70),
    }),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constant("tidy" as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("restart" as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("forget hours" as const) }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("read" as const) }) },
);

/** Totals by sender of everything ever counted, one count at a time. */
function slowTotals(all: readonly Count[], nowMs: number): [number, number][] {
  const totals = new Map<number, number>();
  for (const { senderId, minute, count } of all) {
    if (minute < firstCountedMinute(nowMs)) continue;
    totals.set(senderId, (totals.get(senderId) ?? 0) + count);
  }
  return [...totals].filter(([, total]) => total !== 0).sort(([a], [b]) => a - b);
}

/** Totals by hour of everything ever counted, of hours that lie wholly in the window. */
function slowHours(all: readonly Count[], nowMs: number): [number, number][] {
  const hours = new Map<number, number>();
  for (const { minute, count } of all) {
    hours.set(hourOf(minute), (hours.get(hourOf(minute)) ?? 0) + count);
  }
  return wholeHours(hours, nowMs);
}

function wholeHours(hours: Iterable<[number, number]>, nowMs: number): [number, number][] {
  const firstHour = hourOf(firstCountedMinute(nowMs) - 1) + 1;
  return [...hours].filter(([hour, total]) => hour >= firstHour && total !== 0)
    .sort(([a], [b]) => a - b);
}

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a shared store";

  Deno.test(`Standings.read() gives what counting everything gives, however it was folded, on ${store}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 40 }), async (acts) => {
        const kv = await openMemoryKv();
        const clock = createTestClock();
        const storage = await openTestStorage(kv, {
          exclusive,
          clock,
          journalBounds: SAVED_AT_ONCE,
        });
        const open = () => new Standings(storeOn(kv), clock.now);
        let standings = open();
        const leases = new Leases(storage.store);
        const tally = new Tally({ ...storage, leases, standings: () => standings.read() });
        const all: Count[] = [];
        let deltas = 0;
        try {
          for (const one of [...acts, { act: "read" } as const]) {
            if (one.act === "advance") clock.advance(one.minutes * MINUTE_MS);
            else if (one.act === "tidy") await tally.tidy();
            else if (one.act === "restart") standings = open();
            else if (one.act === "forget hours") {
              for await (const { key, value } of kv.list<CheckpointRow>(CHECKPOINTS)) {
                const { hours: _, ...row } = value;
                await storage.store.transact((transaction) => transaction.set(key, row));
              }
              standings = open();
            } else if (one.act === "count") {
              const counts = one.counts.map(({ senderId, minutesAgo, count }) => ({
                senderId,
                handle: `agent_${senderId}`,
                minute: minuteOf(clock.now()) - minutesAgo,
                count,
              }));
              // A sweep takes off only what was counted.
              const lawful = counts.filter((count) => {
                const before = all.filter(({ senderId, minute }) =>
                  senderId === count.senderId && minute === count.minute
                ).reduce((sum, { count }) => sum + count, 0);
                if (before + count.count < 0) return false;
                all.push(count);
                return true;
              });
              await kv.set(deltaKey(`delta-${++deltas}`), encodeCounts(lawful));
            } else {
              const { folded, since } = await standings.read();
              const shown = new Map([...folded.counts].map(([id, { count }]) => [id, count]));
              for (const { senderId, count } of since) {
                shown.set(senderId, (shown.get(senderId) ?? 0) + count);
              }
              const totals = [...shown].filter(([, total]) => total !== 0)
                .sort(([a], [b]) => a - b);
              assert.deepEqual(totals, slowTotals(all, clock.now()));
              const hours = new Map(folded.hours);
              for (const { minute, count } of since) {
                hours.set(hourOf(minute), (hours.get(hourOf(minute)) ?? 0) + count);
              }
              assert.deepEqual(wholeHours(hours, clock.now()), slowHours(all, clock.now()));
            }
          }
        } finally {
          await storage.close();
          kv.close();
        }
      }),
      { numRuns: 400 },
    );
  });
}

Deno.test("Tally.tidy() leaves few rows of many deltas, and deletes what checkpoints replace", async () => {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const storage = await openTestStorage(kv, { clock, journalBounds: SAVED_AT_ONCE });
  const standings = new Standings(storeOn(kv), clock.now);
  const leases = new Leases(storage.store);
  const tally = new Tally({ ...storage, leases, standings: () => standings.read() });
  for (let round = 0; round < 12; round++) {
    for (let i = 0; i < 700; i++) {
      const minute = minuteOf(clock.now());
      const delta = { senderId: 1 + i % 90, handle: `agent_${1 + i % 90}`, minute, count: 1 };
      await kv.set(deltaKey(`${round}-${i}`), encodeCounts([delta]));
    }
    await tally.tidy();
    clock.advance(61 * MINUTE_MS);
  }
  await tally.tidy();
  const rows = new Map<string, number>();
  for await (const { key } of kv.list({ prefix: ["tally"] })) {
    rows.set(key[1] as string, (rows.get(key[1] as string) ?? 0) + 1);
  }
  assert.equal(rows.get("delta"), undefined);
  assert.equal(rows.get("checkpoint"), 1);
  assert.ok((rows.get("log") ?? 0) <= 6, `${rows.get("log")} logs`);
  assert.equal((await kv.get<TallyState>(TALLY_STATE)).value!.seq, 36);
  assert.equal((await standings.read()).folded.counts.get(1)!.count, 12 * 8);
  await storage.close();
  kv.close();
});

Deno.test("Standings.read() subtracts no minute twice after a start from a checkpoint", async () => {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const storage = await openTestStorage(kv, { clock });
  const standings = new Standings(storeOn(kv), clock.now);
  const leases = new Leases(storage.store);
  const tally = new Tally({ ...storage, leases, standings: () => standings.read() });
  const of = (minutesAgo: number) => ({
    senderId: 1,
    handle: "agent_1",
    minute: minuteOf(clock.now()) - minutesAgo,
    count: 1,
  });
  // One is the last to have left when the second checkpoint is written, one the first to stay.
  await kv.set(deltaKey("a"), encodeCounts([WINDOW_MINUTES - 60, WINDOW_MINUTES - 61, 0].map(of)));
  await tally.tidy();
  clock.advance(61 * MINUTE_MS);
  await tally.tidy();
  for (const expected of [2, 1]) {
    const { folded } = await new Standings(storeOn(kv), clock.now).read();
    assert.equal(folded.counts.get(1)!.count, expected);
    clock.advance(MINUTE_MS);
  }
  await storage.close();
  kv.close();
});

Deno.test("Standings.read() has few rows in memory at a time, however many folds it missed", async () => {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const storage = await openTestStorage(kv, { clock });
  const leases = new Leases(storage.store);
  const kept = new Standings(storeOn(kv), clock.now);
  const tally = new Tally({ ...storage, leases, standings: () => kept.read() });
  const folds = 130;
  for (let i = 0; i < folds; i++) {
    const minute = minuteOf(clock.now()) - i % 2;
    const senderId = 1 + i % 3;
    const delta = { senderId, handle: `agent_${senderId}`, minute, count: 1 };
    await kv.set(deltaKey(`fold-${i}`), encodeCounts([delta]));
    await tally.tidy();
  }
  const lists: { kind: string; rows: number }[] = [];
  const counting = new Proxy(kv, {
    get(target, name) {
      if (name !== "list") return Reflect.get(target, name).bind(target);
      return async function* (...args: Parameters<Deno.Kv["list"]>) {
        const list = { kind: "", rows: 0 };
        lists.push(list);
        for await (const row of target.list(...args)) {
          list.kind = row.key[1] as string;
          list.rows++;
          yield row;
        }
      };
    },
  });
  const total = async (standings: Standings) => {
    const { counts } = (await standings.read()).folded;
    return [...counts.values()].reduce((sum, { count }) => sum + count, 0);
  };
  const most = (kind: string) =>
    Math.max(0, ...lists.filter((list) => list.kind === kind).map(({ rows }) => rows));

  const fresh = new Standings(storeOn(counting), clock.now);
  assert.equal(await total(fresh), folds);
  assert.ok(lists.filter(({ kind }) => kind === "log").length > 10);
  assert.ok(most("log") <= 8, `${most("log")} logs at a time`);
  // The former of the two minutes leaves the window, then the latter.
  clock.advance(WINDOW_MINUTES * MINUTE_MS);
  assert.equal(await total(fresh), folds / 2);
  clock.advance(MINUTE_MS);
  assert.equal(await total(fresh), 0);
  assert.ok(lists.filter(({ kind }) => kind === "part").length >= 4);
  assert.ok(most("part") <= 60, `${most("part")} parts at a time`);
  await storage.close();
  kv.close();
});
