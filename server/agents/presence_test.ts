import assert from "node:assert/strict";
import { createTestClock } from "../../tests/support/clock.ts";
import { Presence } from "./presence.ts";

async function withStore(
  exclusive: boolean,
  test: (
    open: (kv?: Deno.Kv) => Presence,
    clock: ReturnType<typeof createTestClock>,
    kv: Deno.Kv,
  ) => Promise<void>,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const clock = createTestClock();
  const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));
  try {
    await test(
      (own = kv) => new Presence({ kv: own, now: clock.now, random, exclusive }),
      clock,
      kv,
    );
  } finally {
    kv.close();
  }
}

const sorted = async (presence: Presence) => [...await presence.follow()].sort(([a], [b]) => a - b);

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a shared store";

  Deno.test(`Presence.follow() gives everybody once, and then who was seen since, on ${store}`, () =>
    withStore(exclusive, async (open, clock) => {
      const former = open();
      const startMs = clock.now();
      former.touch(1);
      former.touch(2);
      await former.flush();
      const presence = open();
      clock.advance(5_000);
      presence.touch(2);
      presence.touch(3);
      const expected = [[1, startMs], [2, startMs + 5_000], [3, startMs + 5_000]];
      assert.deepEqual(await sorted(presence), expected);
      assert.deepEqual(await sorted(presence), []);
      clock.advance(5_000);
      presence.touch(1);
      await presence.flush();
      assert.ok(
        (await sorted(presence)).some(([id, seenMs]) => id === 1 && seenMs === clock.now()),
      );
      assert.equal(await presence.lastSeenMs(1), clock.now());
    }));
}

Deno.test("Presence.follow() learns what other processes flushed, a minute or an hour ago", () =>
  withStore(false, async (open, clock) => {
    const [one, other] = [open(), open()];
    await one.follow();
    for (const [agentId, waitMs] of [[4, 60_000], [5, 3_600_000]] as const) {
      other.touch(agentId);
      const seenMs = clock.now();
      await other.flush();
      clock.advance(waitMs);
      const seen = new Map(await one.follow());
      assert.equal(seen.get(agentId), seenMs);
    }
  }));

Deno.test("Presence.follow() gives everybody again after a read that failed", () =>
  withStore(true, async (open, _clock, kv) => {
    let fails = true;
    const failing = new Proxy(kv, {
      get(target, name) {
        if (name === "list" && fails) throw new Error("the disk is gone");
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const presence = open(failing);
    presence.touch(9);
    await assert.rejects(presence.follow());
    fails = false;
    assert.deepEqual((await sorted(presence)).map(([id]) => id), [9]);
  }));

Deno.test("Presence.flush() keeps what could not be written", () =>
  withStore(true, async (open, _clock, kv) => {
    let fails = true;
    const failing = new Proxy(kv, {
      get(target, name) {
        if (name === "atomic" && fails) throw new Error("the disk is gone");
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const presence = open(failing);
    presence.touch(9);
    await assert.rejects(presence.flush());
    assert.equal((await kv.get(["seen", 9])).value, null);
    fails = false;
    await presence.flush();
    assert.notEqual((await kv.get(["seen", 9])).value, null);
  }));
