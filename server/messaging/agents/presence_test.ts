import { storeOn } from "../../../tests/support/store_on.ts";
import assert from "node:assert/strict";
import { createTestClock } from "../../../tests/support/clock.ts";
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
  try {
    await test(
      (own = kv) => new Presence(storeOn(own, { now: clock.now, exclusive })),
      clock,
      kv,
    );
  } finally {
    kv.close();
  }
}

/** What a follower of a presence knows, as its order of agents would: the latest times. */
function follower(presence: Presence) {
  const latest = new Map<number, number>();
  const tell = (agentId: number, seenMs: number) => {
    latest.set(agentId, Math.max(seenMs, latest.get(agentId) ?? 0));
  };
  return { latest, follow: () => presence.follow(tell) };
}

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a shared store";

  Deno.test(`Presence.follow() tells everybody once, and then who is seen, at once, on ${store}`, () =>
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
      const { latest, follow } = follower(presence);
      await follow();
      assert.deepEqual(
        latest,
        new Map([[1, startMs], [2, startMs + 5_000], [3, startMs + 5_000]]),
      );
      latest.clear();
      await follow();
      assert.deepEqual(latest, new Map());
      clock.advance(5_000);
      presence.touch(1);
      assert.deepEqual(latest, new Map([[1, clock.now()]]));
      await presence.flush();
      assert.equal(await presence.lastSeenMs(1), clock.now());
    }));
}

Deno.test("Presence.follow() tells what other processes flushed, a minute or an hour ago", () =>
  withStore(false, async (open, clock) => {
    const [one, other] = [open(), open()];
    const { latest, follow } = follower(one);
    await follow();
    for (const [agentId, waitMs] of [[4, 60_000], [5, 3_600_000]] as const) {
      other.touch(agentId);
      const seenMs = clock.now();
      await other.flush();
      clock.advance(waitMs);
      await follow();
      assert.equal(latest.get(agentId), seenMs);
    }
  }));

Deno.test("Presence.follow() tells what other processes flush after a clock that went back", () =>
  withStore(false, async (open, clock) => {
    const [one, other] = [open(), open()];
    const { latest, follow } = follower(one);
    await follow();
    clock.leap(-9 * 3_600_000);
    for (const agentId of [4, 5]) {
      other.touch(agentId);
      const seenMs = clock.now();
      await other.flush();
      clock.advance(60_000);
      await follow();
      assert.equal(latest.get(agentId), seenMs);
    }
  }));

Deno.test("Presence.follow() tells everybody again after a read that failed", () =>
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
    const { latest, follow } = follower(presence);
    await assert.rejects(follow());
    fails = false;
    await follow();
    assert.deepEqual([...latest.keys()], [9]);
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
