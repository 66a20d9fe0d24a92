import assert from "node:assert/strict";
import { holeKey, settle, type WaitingRig, withWaits } from "../../../tests/support/waiting_rig.ts";

/** Puts a head into memory and store, as a commit of this process does. */
async function commitHead({ kv, records, holes }: WaitingRig, hole: number, head: number) {
  await kv.set(holeKey(hole), { head });
  records.refresh(holeKey(hole));
  holes.announce(holeKey(hole));
}

Deno.test("untilAbove() answers at once for a head that is above already", async () => {
  await withWaits(async (rig) => {
    await rig.kv.set(holeKey(1), { head: 5 });
    for (const head of [null, 4]) {
      const outcome = await rig.holes.untilAbove(holeKey(1), head, {});
      assert.deepEqual(outcome, { ended: "above", head: 5 });
    }
    assert.equal(rig.waits.size, 0);
  }, { exclusive: true });
});

Deno.test("untilAbove() goes on over changes that do not raise the head, and leaves nothing behind", async () => {
  await withWaits(async (rig) => {
    await rig.kv.set(holeKey(1), { head: 5 });
    const outcomes: unknown[] = [];
    const done = rig.holes.untilAbove(holeKey(1), 5, {}).then((outcome) => outcomes.push(outcome));
    await settle(rig.kv);
    await commitHead(rig, 1, 5);
    await settle(rig.kv);
    assert.deepEqual(outcomes, []);
    await commitHead(rig, 2, 9);
    await settle(rig.kv);
    assert.deepEqual(outcomes, []);
    await commitHead(rig, 1, 6);
    await done;
    assert.deepEqual(outcomes, [{ ended: "above", head: 6 }]);
    assert.equal(rig.waits.size, 0);
    assert.equal(rig.holes.isIdle, true);
  }, { exclusive: true });
});

Deno.test("untilAbove() ends with its time, its client and the relay, and with a store that fails", async () => {
  await withWaits(async ({ kv, holes, waits }) => {
    const leaving = new AbortController();
    const gone = holes.untilAbove(holeKey(1), null, { signal: leaving.signal });
    const stopped = holes.untilAbove(holeKey(1), null, { waitMs: 600_000 });
    assert.deepEqual(await holes.untilAbove(holeKey(1), null, { waitMs: 0 }), { ended: "time" });
    await settle(kv);
    leaving.abort();
    assert.deepEqual(await gone, { ended: "gone" });
    assert.equal(waits.size, 1);
    const { get } = kv;
    kv.get = () => Promise.reject(new TypeError("disk gone"));
    await assert.rejects(holes.untilAbove(holeKey(2), null, {}), /disk gone/);
    kv.get = get;
    assert.equal(waits.size, 1);
    waits.close();
    assert.deepEqual(await stopped, { ended: "stopped" });
    assert.deepEqual(await holes.untilAbove(holeKey(1), null, {}), { ended: "stopped" });
    assert.equal(waits.size, 0);
  }, { exclusive: true });
});

Deno.test("open() gives a waiter that each change wakes again, those that came before next() too", async () => {
  await withWaits(async ({ holes }) => {
    const stream = holes.open(holeKey(1))!;
    const other = holes.open(holeKey(1))!;
    for (let change = 0; change < 3; change++) {
      const next = stream.next();
      holes.announce(holeKey(1));
      assert.equal(await next, "changed");
    }
    holes.announce(holeKey(1));
    holes.announce(holeKey(1));
    assert.equal(await stream.next(), "changed");
    let woken = false;
    const next = stream.next().then((outcome) => {
      woken = true;
      return outcome;
    });
    await Promise.resolve();
    assert.equal(woken, false); // two changes while nobody asked are one
    assert.equal(await other.next(), "changed");
    stream.end();
    assert.equal(await next, "ended");
    assert.equal(await stream.next(), "ended");
    other.end();
  }, { exclusive: true });
});

Deno.test("open() tells a change before the end of the time, and nothing to a client that has gone", async () => {
  await withWaits(async ({ kv, holes, waits }) => {
    const late = holes.open(holeKey(1), { waitMs: 0 })!;
    const leaving = new AbortController();
    const left = holes.open(holeKey(1), { signal: leaving.signal })!;
    holes.announce(holeKey(1));
    leaving.abort();
    while (!late.isOver) await settle(kv);
    assert.equal(await late.next(), "changed");
    assert.equal(await late.next(), "time");
    assert.equal(await left.next(), "gone");
    const never = holes.open(holeKey(1), { signal: leaving.signal })!;
    assert.equal(await never.next(), "gone");
    assert.equal(waits.size, 0);
    assert.equal(holes.isIdle, true);
  }, { exclusive: true });
});

Deno.test("announce() wakes all waiters of one mailbox and no others", async () => {
  await withWaits(async ({ holes, wait }) => {
    const waits = Array.from({ length: 100 }, () => wait(1));
    const elsewhere = wait(2);
    holes.announce(holeKey(1));
    await Promise.resolve();
    assert.ok(waits.every(({ outcome }) => outcome() === "changed"));
    assert.equal(elsewhere.outcome(), null);
  }, { exclusive: true });
});

Deno.test("untilAbove() reads nothing in a ten-second round that has nothing newer for it", async () => {
  await withWaits(async ({ kv, records, holes, tick, waits }) => {
    await kv.set(holeKey(1), { head: 5 });
    let reads = 0;
    const { read } = records;
    records.read = (key) => {
      reads++;
      return read.call(records, key) as never;
    };
    const waiting = holes.untilAbove(holeKey(1), 5, {});
    await tick(30);
    assert.equal(reads, 1);
    waits.close();
    await waiting;
  }, { exclusive: true });
});
