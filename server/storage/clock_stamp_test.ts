import assert from "node:assert/strict";
import { ClockBehindError, ClockStamp, FAR_MS } from "./clock_stamp.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

async function withStamp(
  test: (clock: { nowMs: number }, stamp: ClockStamp) => Promise<void>,
): Promise<void> {
  using kv = await Deno.openKv(":memory:");
  const clock = { nowMs: NOW_MS };
  const stamp = new ClockStamp(kv, () => clock.nowMs);
  assert.equal(await stamp.open(true), null, "a new store knows no time");
  await test(clock, stamp);
}

Deno.test("ClockStamp refuses a clock that is more than a day behind the store", async () => {
  await withStamp(async (clock, stamp) => {
    clock.nowMs = NOW_MS - FAR_MS;
    assert.equal(await stamp.open(true), null);
    clock.nowMs -= FAR_MS + 1;
    await assert.rejects(stamp.open(true), (error: Error) => {
      assert.ok(error instanceof ClockBehindError);
      assert.match(
        error.message,
        /says 2025-12-29T\S+, and the store was in use at 2025-12-31T00:00:00Z: .*RELAY_CLOCK_CHECK=off/,
      );
      return true;
    });
    await assert.rejects(stamp.open(true), ClockBehindError, "a refused start changes nothing");
    assert.match((await stamp.open(false))!, /is off: 2025-12-29T\S+ is taken for right/);
    assert.equal(await stamp.open(true), null, "once is enough");
  });
});

Deno.test("ClockStamp tells of a clock that is far ahead of the store", async () => {
  await withStamp(async (clock, stamp) => {
    clock.nowMs += FAR_MS;
    assert.equal(await stamp.open(true), null);
    clock.nowMs += FAR_MS + 1;
    assert.match(
      (await stamp.open(true))!,
      /^2026-01-03T\S+, and the store was last in use at 2026-01-02T00:00:00Z: if/,
    );
    assert.equal(await stamp.open(true), null);
  });
});

Deno.test("ClockStamp.refresh() writes once an hour, and after a jump of the clock", async () => {
  using kv = await Deno.openKv(":memory:");
  const clock = { nowMs: NOW_MS };
  const stamp = new ClockStamp(kv, () => clock.nowMs);
  await stamp.open(true);
  for (const [movedMs, isStamped] of [[HOUR_MS - 1, false], [1, true], [-HOUR_MS, true]] as const) {
    clock.nowMs += movedMs;
    await stamp.refresh();
    assert.equal((await kv.get(["meta", "clock"])).value === clock.nowMs, isStamped, `${movedMs}`);
  }
});
