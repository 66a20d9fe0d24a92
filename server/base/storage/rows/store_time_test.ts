import assert from "node:assert/strict";
import { createTestClock, type TestClock } from "../../../../tests/support/clock.ts";
import { storeOn } from "../../../../tests/support/store_on.ts";
import { ClockWatch } from "./clock_watch.ts";
import { ClockBehindError, StoreTime } from "./store_time.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 86_400_000;

function openTime(
  kv: Deno.Kv,
  clock: TestClock,
  check = true,
): { time: StoreTime; watch: ClockWatch } {
  const { now, elapsed } = clock;
  const watch = new ClockWatch({ now, elapsed, log: () => {}, check });
  return { time: new StoreTime({ ...storeOn(kv), elapsed, clock: watch }), watch };
}

const newest = async (kv: Deno.Kv) => (await kv.get<number>(["meta", "clock"])).value;

Deno.test("StoreTime refuses a clock that is more than a day behind the store", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = createTestClock(NOW_MS);
  const open = (check: boolean) => openTime(kv, clock).time.open(check);
  assert.equal(await open(true), null, "a new store knows no time");
  clock.leap(-2 * MINUTE_MS);
  assert.equal(await open(true), null);
  clock.leap(-DAY_MS);
  for (let starts = 0; starts < 2; starts++) {
    const told = await open(true);
    assert.match(told!, /in use at 2025-12-31T23:58:00Z: what that later time decided/);
  }
  clock.leap(-DAY_MS - 1);
  await assert.rejects(open(true), (error: Error) => {
    assert.ok(error instanceof ClockBehindError);
    assert.match(
      error.message,
      /says 2025-12-29T\S+, and the store was in use at 2025-12-31T23:58:00Z: .*RELAY_CLOCK_CHECK=off/,
    );
    return true;
  });
  await assert.rejects(open(true), ClockBehindError, "a refused start changes nothing");
  assert.match((await open(false))!, /is off: 2025-12-29T\S+ is taken for right/);
  assert.equal(await open(true), null, "once is enough");
});

Deno.test("StoreTime tells the watch of a later time, and a leap back keeps no later start from going on", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = createTestClock(NOW_MS);
  await openTime(kv, clock).time.open(true);
  clock.leap(-9 * HOUR_MS);
  const { time, watch } = openTime(kv, clock);
  await time.open(true);
  assert.deepEqual(watch.state, { state: "behind", untilMs: NOW_MS });
  assert.equal(await newest(kv), NOW_MS);
  clock.leap(-9 * DAY_MS);
  await time.close();
  assert.equal(await newest(kv), clock.now() + DAY_MS);
  const next = openTime(kv, clock);
  await next.time.open(true);
  assert.equal(next.watch.state.state, "behind");
  const last = openTime(kv, clock);
  await last.time.open(false);
  assert.equal(last.watch.state.state, "steady", "RELAY_CLOCK_CHECK=off ends it");
  assert.equal(await newest(kv), clock.now());
});

Deno.test("StoreTime tells of a clock that is far ahead of the store", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = createTestClock(NOW_MS);
  const open = () => openTime(kv, clock).time.open(true);
  await open();
  clock.leap(DAY_MS);
  assert.equal(await open(), null);
  clock.leap(DAY_MS + 1);
  assert.match(
    (await open())!,
    /^2026-01-03T\S+, and the store was last in use at 2026-01-02T00:00:00Z: if/,
  );
  assert.equal(await open(), null);
});

Deno.test("StoreTime.livedMs counts monotonic time alone, goes on over restarts, and loses a minute at most", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = createTestClock(NOW_MS);
  const first = openTime(kv, clock);
  await first.time.open(true);
  assert.equal(first.time.livedMs, 0);
  clock.advance(MINUTE_MS);
  clock.leap(30 * DAY_MS);
  assert.equal(first.time.livedMs, MINUTE_MS);
  await first.time.refresh();
  clock.advance(MINUTE_MS / 2);
  const killed = openTime(kv, clock);
  await killed.time.open(true);
  assert.equal(killed.time.livedMs, MINUTE_MS, "of the half minute nothing was written");
  clock.advance(MINUTE_MS / 2);
  await killed.time.close();
  const next = openTime(kv, clock);
  await next.time.open(true);
  assert.equal(next.time.livedMs, 1.5 * MINUTE_MS);
});

Deno.test("StoreTime.livedMs of two processes is the longer count, never the sum", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = createTestClock(NOW_MS);
  const [one, two] = [openTime(kv, clock), openTime(kv, clock)];
  await one.time.open(true);
  clock.advance(MINUTE_MS);
  await two.time.open(true);
  clock.advance(MINUTE_MS);
  for (const { time } of [two, one, two]) await time.refresh();
  assert.equal(one.time.livedMs, 2 * MINUTE_MS);
  assert.equal(two.time.livedMs, MINUTE_MS, "nothing to learn before its next write");
  clock.advance(MINUTE_MS);
  await two.time.refresh();
  assert.equal(two.time.livedMs, 2 * MINUTE_MS);
});

Deno.test("StoreTime.livedMs of a process whose machine slept is that of the others before its clock is relied on again", async () => {
  for (const check of [true, false]) {
    using kv = await Deno.openKv(":memory:");
    const [clock, slept] = [createTestClock(NOW_MS), createTestClock(NOW_MS)];
    const [other, sleeper] = [openTime(kv, clock), openTime(kv, slept, check)];
    for (const { time } of [other, sleeper]) await time.open(check);
    clock.advance(30 * HOUR_MS);
    await other.time.refresh();
    slept.leap(30 * HOUR_MS);
    await sleeper.time.refresh();
    assert.equal(sleeper.watch.isSure, !check);
    assert.equal(sleeper.time.livedMs, 30 * HOUR_MS);
  }
});

Deno.test("StoreTime.refresh() writes after ten seconds and then once a minute, and no time that is not relied on", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = createTestClock(NOW_MS);
  const { time } = openTime(kv, clock);
  await time.open(true);
  let writtenMs = 0;
  for (const everyMs of [10_000, MINUTE_MS, MINUTE_MS]) {
    clock.advance(everyMs - 1);
    await time.refresh();
    assert.equal(await newest(kv), NOW_MS + writtenMs);
    clock.advance(1);
    await time.refresh();
    writtenMs += everyMs;
    assert.equal(await newest(kv), NOW_MS + writtenMs);
  }
  clock.advance(MINUTE_MS);
  clock.leap(DAY_MS);
  await time.refresh();
  assert.equal(await newest(kv), NOW_MS + writtenMs);
  clock.advance(MINUTE_MS);
  await time.refresh();
  assert.equal(await newest(kv), clock.now(), "taken for right by now");
});

Deno.test("StoreTime.livedMs goes on by processes that are ended after some seconds without closing", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = createTestClock(NOW_MS);
  for (let lives = 1; lives <= 5; lives++) {
    const { time } = openTime(kv, clock);
    await time.open(true);
    for (let seconds = 0; seconds < 12; seconds++) {
      clock.advance(1_000);
      await time.refresh();
    }
    const next = openTime(kv, clock);
    await next.time.open(true);
    assert.equal(next.time.livedMs, lives * 10_000);
  }
});

Deno.test("StoreTime.refresh() waits for a store that hangs with one write, not with one for each call", async () => {
  using plain = await Deno.openKv(":memory:");
  let reads = 0;
  const answers = Promise.withResolvers<void>();
  let hangs = false;
  const getMany: Deno.Kv["getMany"] = async (...args) => {
    reads++;
    if (hangs) await answers.promise;
    return await plain.getMany(...args);
  };
  const kv = { getMany, atomic: () => plain.atomic() } as unknown as Deno.Kv;
  const clock = createTestClock(NOW_MS);
  const { time } = openTime(kv, clock);
  await time.open(true);
  [reads, hangs] = [0, true];
  const refreshes: Promise<void>[] = [];
  for (let seconds = 0; seconds < 600; seconds++) {
    clock.advance(1_000);
    refreshes.push(time.refresh());
  }
  const closed = time.close();
  assert.equal(reads, 1);
  answers.resolve();
  await Promise.all([...refreshes, closed]);
  assert.equal(await newest(plain), clock.now());
});
