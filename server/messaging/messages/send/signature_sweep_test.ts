import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { TEST_START_MS, type TestClock } from "../../../../tests/support/clock.ts";
import { until } from "../../../../tests/support/journal.ts";
import { openTestStorage } from "../../../../tests/support/storage.ts";
import { Leases } from "../../../base/storage/leases/leases.ts";
import { SignatureSweep, type SignatureSweepOptions } from "./signature_sweep.ts";
import { useGroupKey } from "./use_group.ts";

const SECOND = TEST_START_MS / 1000;
/** Window, its last second, a minute, and the margin: rows are older than this when they go. */
const KEPT_SECONDS = 300 + 1 + 60 + 7_200;

interface Rig {
  kv: Deno.Kv;
  clock: TestClock;
  floor: () => Promise<number | undefined>;
  /** As another process does. */
  setFloor: (second: number) => Promise<unknown>;
  /** Seconds after the start of the rows that are there: of groups, then of single requests. */
  left: () => Promise<number[]>;
  single: (...seconds: number[]) => Promise<void>;
  group: (...seconds: number[]) => Promise<void>;
  sweep: (options?: Partial<SignatureSweepOptions>) => SignatureSweep;
}

async function withRig(test: (rig: Rig) => Promise<void>): Promise<void> {
  using kv = await openMemoryKv();
  const { store, clock, close } = await openTestStorage(kv);
  let rows = 0;
  await test({
    kv,
    clock,
    floor: async () => {
      const { value } = await kv.get<{ second: number }>(["sig-floor"]);
      return value === null ? undefined : value.second - SECOND;
    },
    setFloor: (second) =>
      store.commit([], [{ kind: "set", key: ["sig-floor"], value: { v: 1, second } }]),
    left: async () => {
      const keys = await Array.fromAsync(kv.list({ prefix: ["sig"] }), ({ key }) => key);
      return keys.map(([, second, first]) => Number(second === "group" ? first : second) - SECOND);
    },
    async single(...seconds) {
      for (const at of seconds) {
        await kv.set(["sig", SECOND + at, 1, new Uint8Array([rows++])], { v: 1 });
      }
    },
    async group(...seconds) {
      for (const at of seconds) {
        const attempt = { attempt: `a${rows++}`, nowMs: TEST_START_MS };
        await kv.set(useGroupKey(SECOND + at, attempt), new Uint8Array(89));
      }
    },
    sweep: (options) =>
      new SignatureSweep({
        store,
        leases: new Leases(store),
        isFloorKnown: () => Promise.resolve(true),
        signatureWindowSeconds: 300,
        log: () => {},
        ...options,
      }),
  });
  await close();
}

Deno.test("SignatureSweep deletes what has not passed for two hours, and raises the floor to the newest of it", async () => {
  await withRig(async ({ clock, floor, left, single, group, sweep }) => {
    await single(0, 3, 500);
    await group(0, 10, 490);
    const run = () => sweep().run();
    await run();
    assert.equal(await floor(), undefined);
    clock.advance((KEPT_SECONDS + 3) * 1000 + 999);
    await run();
    assert.deepEqual(await left(), [0, 10, 490, 3, 500]);
    assert.equal(await floor(), 0);
    clock.advance(1);
    await run();
    assert.deepEqual(await left(), [0, 10, 490, 500]);
    assert.equal(await floor(), 3);
    clock.advance(7_000);
    await run();
    assert.deepEqual(await left(), [10, 490, 500]);
    assert.equal(await floor(), 9, "the last of the ten seconds");
    clock.advance(3_600_000);
    await run();
    assert.deepEqual(await left(), []);
    assert.equal(await floor(), 500, "not the time up to which it deletes");
  });
});

Deno.test("SignatureSweep goes in small commits, on where it stopped, and does nothing while the clock is unsure", async () => {
  await withRig(async ({ clock, floor, left, single, group, sweep }) => {
    await single(...Array.from({ length: 25 }, (_, i) => i));
    await group(...Array.from({ length: 25 }, (_, i) => i));
    const one = sweep({ rowsACommit: 4, commitsARun: 6 });
    clock.leap(9 * 3_600_000);
    await one.run();
    assert.equal((await left()).length, 50);
    assert.equal(await floor(), undefined);
    clock.advance(60_000);
    const counts = [];
    for (let run = 0; run < 4; run++) {
      await one.run();
      counts.push((await left()).length);
    }
    assert.deepEqual(counts, [30, 6, 0, 0], "one of the commits raises the floor");
    assert.equal(await floor(), 29);
  });
});

Deno.test("SignatureSweep goes on where it stopped, also when the journal has saved the floor meanwhile", async () => {
  using kv = await openMemoryKv();
  const journalBounds = { rows: 1, changes: 1, bytes: 1, afterMs: 1 };
  const { store, clock, journal, close } = await openTestStorage(kv, { journalBounds });
  for (let row = 0; row < 25; row++) {
    await kv.set(["sig", SECOND + row, 1, new Uint8Array([row])], { v: 1 });
  }
  clock.advance(9 * 3_600_000);
  const sweep = new SignatureSweep({
    store,
    leases: new Leases(store),
    isFloorKnown: () => Promise.resolve(true),
    signatureWindowSeconds: 300,
    log: () => {},
    rowsACommit: 4,
    commitsARun: 3,
  });
  for (let run = 0; run < 8; run++) {
    await sweep.run();
    await until(() => journal!.size.rows === 0);
  }
  assert.deepEqual(await Array.fromAsync(kv.list({ prefix: ["sig"] })), []);
  await close();
});

Deno.test("SignatureSweep deletes nothing before the floor is known, nor what a lowered one covers no more", async () => {
  await withRig(async ({ setFloor, clock, floor, left, single, sweep }) => {
    await single(0, 1);
    clock.advance(9 * 3_600_000);
    await sweep({ isFloorKnown: () => Promise.resolve(false) }).run();
    assert.equal(await floor(), 1);
    assert.equal((await left()).length, 2);
    const lowering = sweep({
      async isFloorKnown() {
        await setFloor(SECOND);
        return true;
      },
    });
    await lowering.run();
    assert.equal((await left()).length, 2);
    await sweep().run();
    assert.equal((await left()).length, 0);
  });
});

Deno.test("SignatureSweep keeps rows that the clock has not passed, whatever the floor, and tells of one that lies ahead", async () => {
  await withRig(async ({ kv, left, single, sweep }) => {
    await single(0, 100);
    await kv.set(["sig-floor"], { v: 1, second: SECOND + 3_600 });
    const logged: unknown[] = [];
    const one = sweep({ log: (event, fields) => void logged.push({ event, ...fields }) });
    for (let run = 0; run < 3; run++) await one.run();
    assert.equal((await left()).length, 2);
    const until = "2026-06-01T13:00:00.000Z";
    assert.deepEqual(logged, [{ event: "signed_requests_wait", until }], "told once");
  });
});
