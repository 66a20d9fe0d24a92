import assert from "node:assert/strict";
import { createFakeKv } from "../../../tests/support/fake_kv.ts";
import { createTestClock } from "../../../tests/support/clock.ts";
import { inKey } from "../../mailboxes/records.ts";
import { RecordCache } from "../../storage/record_cache.ts";
import { EMBEDDED_CAPACITY, type Store } from "../../storage/store.ts";
import { Arrivals, type Waiter } from "./arrivals.ts";
import { pollKey } from "./poll_record.ts";
import { Wake } from "./wake.ts";
import { markWakes, wakeKey, wakeShardOf } from "./wake_marks.ts";

/** A waiting poll: what ended it, and whether anything did. */
interface WaitingPoll {
  ended: () => string | null;
  hasEnded: () => boolean;
  waiter: Waiter;
}

interface Rig {
  kv: Deno.Kv;
  arrivals: Arrivals;
  records: RecordCache;
  /** One second passes. */
  tick: () => void;
  tickers: () => number;
  /** Mailboxes that were read, by agent. */
  reads: number[];
  /** Another process commits a message for the agent. */
  deliver: (agentId: number) => Promise<void>;
  breakWatch: () => Promise<void>;
}

async function withWake(
  body: (rig: Rig) => Promise<void>,
  { exclusive = false, watchable = false } = {},
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const fake = createFakeKv({ kv });
  const reads: number[] = [];
  const getMany = fake.getMany.bind(fake);
  fake.getMany = ((keys: Deno.KvKey[]) => {
    for (const key of keys) if (key[0] === "in") reads.push(key[1] as number);
    return getMany(keys);
  }) as typeof fake.getMany;
  const watches: ReadableStreamDefaultController[] = [];
  const watch = fake.watch.bind(fake);
  fake.watch = ((keys: Deno.KvKey[]) => {
    const source = watch(keys).getReader();
    return new ReadableStream({
      start: (controller) => void watches.push(controller),
      async pull(controller) {
        const { done, value } = await source.read();
        if (!done) controller.enqueue(value);
      },
      cancel: () => source.cancel(),
    });
  }) as unknown as typeof fake.watch;
  const store: Store = {
    kv: fake,
    exclusive,
    capacity: EMBEDDED_CAPACITY,
    now: createTestClock().now,
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
  };
  const arrivals = new Arrivals();
  const records = new RecordCache(store);
  const ticks = new Set<() => void>();
  const wake = new Wake({
    store,
    arrivals,
    records,
    watchable,
    startTicker: (tick) => {
      ticks.add(tick);
      return () => void ticks.delete(tick);
    },
  });
  let messages = 0;
  try {
    await body({
      kv,
      arrivals,
      records,
      tick: () => ticks.forEach((tick) => tick()),
      tickers: () => ticks.size,
      reads,
      deliver: async (agentId) => {
        await kv.atomic().set(inKey(agentId), { head: ++messages })
          .set(wakeKey(wakeShardOf(agentId)), messages).commit();
      },
      async breakWatch() {
        for (const controller of watches.splice(0)) controller.error(new Error("connection lost"));
        await untilIdle(kv);
      },
    });
  } finally {
    wake.close();
    await untilIdle(kv);
    assert.equal(ticks.size, 0);
    kv.close();
  }
}

/**
 * Lets what runs in the background come to its next wait; and on until something has happened, for
 * as long as a busy machine may take, where a test asserts that it does.
 */
async function untilIdle(kv: Deno.Kv, until: () => boolean = () => true): Promise<void> {
  for (let i = 0; i < 10 || (i < 20_000 && !until()); i++) await kv.get(["nothing"]);
}

/** A waiting poll that has read its mailbox, and what ended it. */
function wait(arrivals: Arrivals, agentId: number): WaitingPoll {
  let reason: string | null = null;
  const waiter = arrivals.await(agentId);
  void waiter.woken.then((given) => reason = given);
  return { ended: () => reason, hasEnded: () => reason !== null, waiter };
}

/** A poll whose first needless wake-up is over: it waits for what comes now. */
async function waitSeen({ kv, arrivals, tick, tickers }: Rig, agentId: number) {
  const isFirst = tickers() === 0; // the others have no needless one
  const needless = wait(arrivals, agentId);
  tick();
  await untilIdle(kv, () => !isFirst || needless.hasEnded());
  return wait(arrivals, agentId);
}

for (const watchable of [false, true]) {
  const how = watchable ? "by watching a KV server" : "by looking once a second at a shared file";
  Deno.test(`Wake wakes a poll for a message of another process, ${how}`, async () => {
    await withWake(async (rig) => {
      const poll = await waitSeen(rig, 13);
      await rig.deliver(13);
      if (!watchable) rig.tick();
      await untilIdle(rig.kv, poll.hasEnded);
      assert.equal(poll.ended(), "message");
    }, { watchable });
  });

  Deno.test(`Wake reads only mailboxes of changed shards, ${how}`, async () => {
    await withWake(async (rig) => {
      const polls = [];
      for (const agentId of [1, 2, 11]) polls.push(await waitSeen(rig, agentId));
      rig.tick();
      await untilIdle(rig.kv);
      rig.reads.length = 0;
      await rig.deliver(11);
      if (!watchable) rig.tick();
      await untilIdle(rig.kv, polls[2]!.hasEnded);
      assert.deepEqual(rig.reads.toSorted((a, b) => a - b), [1, 11]);
      assert.deepEqual(polls.map(({ ended }) => ended()), [null, null, "message"]);
    }, { watchable });
  });
}

Deno.test("Wake misses nothing that came between a poll's reading and its first look", async () => {
  await withWake(async ({ kv, arrivals, deliver, tick }) => {
    const poll = wait(arrivals, 5); // has registered and read
    await deliver(5);
    tick();
    await untilIdle(kv, poll.hasEnded);
    assert.equal(poll.ended(), "message");
  });
});

Deno.test("Wake reads every mailbox after a broken watch, and watches again", async () => {
  await withWake(async (rig) => {
    const poll = await waitSeen(rig, 4);
    await rig.breakWatch();
    await rig.kv.set(inKey(4), { head: 1 }); // its mark was lost with the watch
    assert.equal(poll.ended(), null);
    rig.tick(); // opens another: its first look sees all
    await untilIdle(rig.kv, poll.hasEnded);
    assert.equal(poll.ended(), "message");
    const later = await waitSeen(rig, 4);
    await rig.deliver(4);
    await untilIdle(rig.kv, later.hasEnded);
    assert.equal(later.ended(), "message");
  }, { watchable: true });
});

Deno.test("Wake looks at every waiting poll each ten seconds, whatever the marks say", async () => {
  await withWake(async (rig) => {
    const poll = await waitSeen(rig, 8);
    await rig.kv.set(inKey(8), { head: 1 }); // unmarked
    for (let second = 0; second < 10 && !poll.hasEnded(); second++) {
      rig.tick();
      await untilIdle(rig.kv);
    }
    await untilIdle(rig.kv, poll.hasEnded);
    assert.equal(poll.ended(), "message");
  });
});

Deno.test("Wake lets a poll look whether another process has accepted a newer one", async () => {
  await withWake(async (rig) => {
    const first = await waitSeen(rig, 8);
    for (let second = 0; second < 10; second++) {
      rig.tick();
      await untilIdle(rig.kv);
    }
    await untilIdle(rig.kv, first.hasEnded);
    assert.equal(first.ended(), "message"); // the first round knows no poll record yet
    const poll = wait(rig.arrivals, 8);
    await rig.kv.set(pollKey(8), { lastPollMs: 1 });
    for (let second = 0; second < 10; second++) {
      rig.tick();
      await untilIdle(rig.kv);
    }
    await untilIdle(rig.kv, poll.hasEnded);
    assert.equal(poll.ended(), "message");
  });
});

Deno.test("Wake runs nothing while nobody waits", async () => {
  await withWake(async ({ kv, arrivals, tick, tickers, reads, deliver }) => {
    assert.equal(tickers(), 0);
    const { waiter } = wait(arrivals, 3);
    assert.equal(tickers(), 1);
    waiter.cancel();
    tick();
    assert.equal(tickers(), 0);
    reads.length = 0;
    await deliver(3);
    await untilIdle(kv);
    assert.deepEqual(reads, []);
  });
});

Deno.test("Wake tries a look again that the store did not answer", async () => {
  await withWake(async (rig) => {
    const poll = await waitSeen(rig, 6);
    const { getMany } = rig.kv;
    await rig.deliver(6);
    let failures = 0;
    rig.kv.getMany = ((keys: Deno.KvKey[]) => {
      if (keys[0]![0] === "in" && failures++ === 0) {
        return Promise.reject(new TypeError("error sending request"));
      }
      return getMany.call(rig.kv, keys);
    }) as typeof rig.kv.getMany;
    rig.tick();
    await untilIdle(rig.kv);
    assert.equal(poll.ended(), null);
    rig.tick();
    await untilIdle(rig.kv, poll.hasEnded);
    assert.equal(poll.ended(), "message");
    assert.ok(failures >= 1);
  });
});

Deno.test("Wake announces every waiting poll each ten seconds on an exclusive store, and reads nothing", async () => {
  await withWake(async (rig) => {
    const poll = wait(rig.arrivals, 8);
    for (let second = 0; second < 9; second++) rig.tick();
    await untilIdle(rig.kv);
    assert.equal(poll.ended(), null);
    rig.tick();
    await untilIdle(rig.kv);
    assert.equal(poll.ended(), "message");
    assert.deepEqual(rig.reads, []);
  }, { exclusive: true });
});

Deno.test("Wake leaves polls alone that have read what memory has, on an exclusive store", async () => {
  await withWake(async (rig) => {
    const tenSeconds = async () => {
      for (let second = 0; second < 10; second++) rig.tick();
      await untilIdle(rig.kv);
    };
    await rig.kv.set(inKey(8), { head: 7 });
    await rig.records.load(inKey(8));
    const [known, forgotten] = [wait(rig.arrivals, 8), wait(rig.arrivals, 9)];
    known.waiter.hasRead(7);
    forgotten.waiter.hasRead(7);
    await tenSeconds();
    assert.deepEqual([known.ended(), forgotten.ended()], [null, "message"]);
    // A message whose wake-up was lost, and a record that a failed commit made memory forget.
    await rig.kv.set(inKey(8), { head: 9 });
    rig.records.refresh(inKey(8));
    await rig.records.load(inKey(8));
    await tenSeconds();
    assert.equal(known.ended(), "message");
    const again = wait(rig.arrivals, 8);
    again.waiter.hasRead(9);
    rig.records.refresh(inKey(8));
    await tenSeconds();
    assert.equal(again.ended(), "message");
  }, { exclusive: true });
});

Deno.test("Wake wakes many polls some at a time, so that others come between", async () => {
  await withWake(async (rig) => {
    const polls = Array.from({ length: 1_000 }, (_, i) => wait(rig.arrivals, i + 1));
    for (let second = 0; second < 10; second++) rig.tick();
    await Promise.resolve();
    const woken = () => polls.filter((poll) => poll.hasEnded()).length;
    assert.equal(woken(), 200);
    await untilIdle(rig.kv, () => woken() === polls.length);
    assert.equal(woken(), polls.length);
  }, { exclusive: true });
});

Deno.test("markWakes() marks each shard of the sends of a group once, and nothing else", () => {
  const keys: Deno.KvKey[] = [];
  const turn = { nowMs: 5, set: (key: Deno.KvKey) => void keys.push(key) };
  const results = [
    { kind: "sent", recipient: { id: 13 } },
    { kind: "registered", agent: { id: 7 } },
    { kind: "sent", recipient: { id: 3 } },
    { kind: "sent", recipient: { id: 20 } },
    null,
  ];
  markWakes.annotate(results, turn as never);
  assert.deepEqual(keys, [wakeKey(3), wakeKey(0)]);
});
