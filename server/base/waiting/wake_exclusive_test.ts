import assert from "node:assert/strict";
import { holeKey, settle, withWaits } from "../../../tests/support/waiting_rig.ts";

Deno.test("Wake wakes who has read nothing each ten seconds on an exclusive store, and reads nothing", async () => {
  await withWaits(async ({ wait, tick, reads }) => {
    const { outcome } = wait(8);
    await tick(9);
    assert.equal(outcome(), null);
    await tick();
    assert.equal(outcome(), "changed");
    assert.deepEqual(reads, []);
  }, { exclusive: true });
});

Deno.test("Wake leaves alone who has read what memory has, on an exclusive store", async () => {
  await withWaits(async ({ kv, records, wait, tick }) => {
    await kv.set(holeKey(8), { head: 7 });
    await records.load(holeKey(8));
    const [known, forgotten] = [wait(8), wait(9)];
    known.waiter.hasRead(7);
    forgotten.waiter.hasRead(7);
    await tick(10);
    assert.deepEqual([known.outcome(), forgotten.outcome()], [null, "changed"]);
    // A change whose wake-up was lost, and a record that a failed commit made memory forget.
    await kv.set(holeKey(8), { head: 9 });
    records.refresh(holeKey(8));
    await records.load(holeKey(8));
    const upToDate = wait(8);
    upToDate.waiter.hasRead(9);
    await tick(10);
    assert.deepEqual([known.outcome(), upToDate.outcome()], ["changed", null]);
    records.refresh(holeKey(8));
    await tick(10);
    assert.equal(upToDate.outcome(), "changed");
  }, { exclusive: true });
});

Deno.test("Wake wakes many some at a time, so that others have their turn between", async () => {
  await withWaits(async ({ kv, wait, tick }) => {
    const waits = Array.from({ length: 1_000 }, (_, i) => wait(i + 1));
    const woken = () => waits.filter(({ isOver }) => isOver()).length;
    await tick(9);
    const round = tick();
    await Promise.resolve();
    assert.equal(woken(), 200);
    await round;
    await settle(kv, () => woken() === waits.length);
    assert.equal(woken(), waits.length);
  }, { exclusive: true });
});
