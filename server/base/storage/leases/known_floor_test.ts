import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createTestClock, type TestClock } from "../../../../tests/support/clock.ts";
import { createFakeKv, type FakeKvOptions } from "../../../../tests/support/fake_kv.ts";
import { letterJob, openTestStorage, type TestStorage } from "../../../../tests/support/storage.ts";
import { storeOn } from "../../../../tests/support/store_on.ts";
import { isFloorKnown } from "./known_floor.ts";

/** Long enough that no renewal, which real time brings, comes into a test that moves the clock. */
const TIMING = { leaseMs: 600_000, clockSkewMs: 100 };

interface Rig {
  kv: Deno.Kv;
  clock: TestClock;
  open: (intercept?: FakeKvOptions["intercept"]) => Promise<TestStorage>;
  isKnown: (version: string) => Promise<boolean>;
}

async function withRig(body: (rig: Rig) => Promise<void>): Promise<void> {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  const opened: TestStorage[] = [];
  await body({
    kv,
    clock,
    async open(intercept) {
      const fake = createFakeKv({ kv, maxChecks: 100, intercept });
      const options = { exclusive: false, clock, slotTiming: TIMING };
      const storage = await openTestStorage(fake, options);
      opened.push(storage);
      return storage;
    },
    isKnown: (version) =>
      isFloorKnown(storeOn(kv, { exclusive: false, now: clock.now }), version, TIMING),
  });
  for (const storage of opened) await storage.close();
}

Deno.test("isFloorKnown() once each holder of a slot has said so in its lease", async () => {
  await withRig(async ({ open, isKnown }) => {
    const [one, two] = [await open(), await open()];
    assert.ok(await isKnown(""), "a store without a floor");
    await one.store.floor.raise(1_000);
    const { version } = one.store.floor;
    assert.equal(two.store.floor.second, -Infinity);
    assert.equal(await isKnown(version), false);
    await one.slot!.renew();
    assert.equal(await isKnown(version), false);
    await two.slot!.renew();
    assert.ok(await isKnown(version));
    assert.equal(two.store.floor.second, 1_000);
    await open();
    assert.equal(await isKnown(version), true, "one that starts knows what there is");
  });
});

Deno.test("isFloorKnown() waits for commits that were planned upon an older floor", async () => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  await withRig(async ({ open, isKnown }) => {
    const [sweeper, busy] = [
      await open(),
      await open(async (commit, run) => {
        if (commit.writes.some(({ key }) => key[0] === "letter")) {
          reached.resolve();
          await held.promise;
        }
        return await run();
      }),
    ];
    const sent = busy.commits.submit(letterJob(busy, "a", "b", "r1"));
    await reached.promise;
    await sweeper.store.floor.raise(1_000);
    const { version } = sweeper.store.floor;
    await sweeper.slot!.renew();
    await busy.slot!.renew();
    assert.equal(busy.store.floor.second, 1_000, "what is planned from now on rests on it");
    assert.equal(await isKnown(version), false);
    held.resolve();
    await sent;
    await busy.commits.drained();
    await busy.slot!.renew();
    assert.ok(await isKnown(version));
  });
});

Deno.test("isFloorKnown() takes the slot of a process that renews it no more, whose next commit then fails", async () => {
  await withRig(async ({ kv, clock, open, isKnown }) => {
    const [sweeper, frozen] = [await open(), await open()];
    const former = frozen.slot!.number;
    await frozen.commits.submit(letterJob(frozen, "a", "b", "r1"));
    await sweeper.store.floor.raise(1_000);
    const { version } = sweeper.store.floor;
    clock.advance(TIMING.leaseMs + TIMING.clockSkewMs - 1);
    await sweeper.slot!.renew();
    assert.equal(await isKnown(version), false);
    clock.advance(1);
    assert.ok(await isKnown(version));
    assert.equal((await kv.get(["slot", former, "owner"])).value, null);
    const { tenure } = frozen.slot!;
    await frozen.commits.submit(letterJob(frozen, "a", "b", "r2"));
    assert.notEqual(frozen.slot!.tenure, tenure);
    assert.equal(frozen.store.floor.second, 1_000, "read before its next commit was planned");
    assert.ok(await isKnown(version));
  });
});

Deno.test("isFloorKnown() takes no lease for a live one that a clock far ahead has written", async () => {
  await withRig(async ({ kv, clock, open, isKnown }) => {
    const sweeper = await open();
    const number = 1 + sweeper.slot!.number % 255;
    await kv.set(["slot", number, "owner"], { v: 1, holder: "another" });
    await kv.set(["slot", number, "lease"], { v: 1, untilMs: clock.now() + 20 * 3_600_000 });
    await sweeper.store.floor.raise(1_000);
    await sweeper.slot!.renew();
    assert.ok(await isKnown(sweeper.store.floor.version));
    assert.equal((await kv.get(["slot", number, "owner"])).value, null);
  });
});
