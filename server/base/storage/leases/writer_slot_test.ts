import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createTestClock, type TestClock } from "../../../../tests/support/clock.ts";
import { createFakeKv, type FakeKvOptions } from "../../../../tests/support/fake_kv.ts";
import {
  letterJob,
  letterKey,
  mailboxKey,
  openTestStorage,
  type TestStorage,
  type TestStorageOptions,
} from "../../../../tests/support/storage.ts";
import { EMBEDDED_CAPACITY } from "../rows/store.ts";
import { NoFreeSlot, WriterSlot } from "./writer_slot.ts";

/** Long enough that no renewal, which real time brings, comes into a test that moves the clock. */
const TIMING = { leaseMs: 600_000, clockSkewMs: 100 };

interface TestStore {
  kv: Deno.Kv;
  clock: ReturnType<typeof createTestClock>;
  open: (
    options?: TestStorageOptions,
    fake?: Omit<FakeKvOptions, "kv">,
  ) => Promise<TestStorage>;
}

async function withStore(body: (test: TestStore) => Promise<void>): Promise<void> {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const opened: TestStorage[] = [];
  try {
    await body({
      kv,
      clock,
      open: async (options = {}, fake = {}) => {
        const storage = await openTestStorage(createFakeKv({ kv, maxChecks: 100, ...fake }), {
          exclusive: false,
          clock,
          slotTiming: TIMING,
          ...options,
        });
        opened.push(storage);
        return storage;
      },
    });
    for (const storage of opened) await storage.close();
  } finally {
    kv.close();
  }
}

/** Another process takes the slot over, as it may once the lease has ended. */
async function takeOver(kv: Deno.Kv, number: number, untilMs: number): Promise<void> {
  await kv.set(["slot", number, "owner"], { v: 1, holder: "another" });
  await kv.set(["slot", number, "lease"], { v: 1, untilMs });
}

/** All slots but one are held, and renewed. */
async function renewOthers(kv: Deno.Kv, clock: TestClock, free: number): Promise<void> {
  for (let number = 1; number <= 255; number++) {
    if (number !== free) await takeOver(kv, number, clock.now() + TIMING.leaseMs);
  }
}

Deno.test("WriterSlot gives each process a slot of its own, 1 to 255", async () => {
  await withStore(async ({ open }) => {
    const numbers = new Set<number>();
    for (let i = 0; i < 20; i++) numbers.add((await open()).slot!.number);
    assert.equal(numbers.size, 20);
    for (const number of numbers) assert.ok(number >= 1 && number <= 255);
  });
});

Deno.test("WriterSlot holds its present tenure once it is confirmed, where the answer to taking it anew was lost", async () => {
  await withStore(async ({ kv, clock, open }) => {
    await renewOthers(kv, clock, 9);
    const { slot, store } = await open();
    await takeOver(kv, 9, clock.now()); // by one that has died since
    clock.advance(TIMING.leaseMs);
    await renewOthers(kv, clock, 9);
    const get = store.get.bind(store);
    let loses = true;
    store.get = ((key) => {
      if (!loses || key[2] !== "owner") return get(key);
      loses = false;
      return Promise.reject(new Error("no answer"));
    }) as typeof get;
    await assert.rejects(slot!.confirm(), /no answer/);
    await slot!.confirm();
    assert.equal(slot!.tenure, (await kv.get(["slot", 9, "owner"])).versionstamp);
  });
});

Deno.test("WriterSlot is taken over only after lease and clock skew have passed", async () => {
  await withStore(async ({ kv, clock, open }) => {
    await renewOthers(kv, clock, 9);
    const first = await open();
    assert.equal(first.slot!.number, 9);
    clock.advance(TIMING.leaseMs + TIMING.clockSkewMs - 1);
    await renewOthers(kv, clock, 9);
    await assert.rejects(WriterSlot.lease(first.store, TIMING), NoFreeSlot);
    clock.advance(1);
    const second = await WriterSlot.lease(first.store, TIMING);
    assert.equal(second.number, 9);
    assert.notEqual(second.tenure, first.slot!.tenure);
    await second.release();
  });
});

Deno.test("WriterSlot fails a start-up when every slot is held, and says what to do", async () => {
  await withStore(async ({ kv, clock, open }) => {
    const latestMs = clock.now() + TIMING.leaseMs + TIMING.clockSkewMs;
    for (let number = 1; number <= 255; number++) await takeOver(kv, number, latestMs);
    await assert.rejects(open(), /all 255 writer slots .* stop a relay/);
  });
});

Deno.test("WriterSlot is free when its lease ends further ahead than a right clock can have written", async () => {
  await withStore(async ({ kv, clock, open }) => {
    const fromTheFutureMs = clock.now() + TIMING.leaseMs + TIMING.clockSkewMs + 1;
    for (let number = 1; number <= 255; number++) await takeOver(kv, number, fromTheFutureMs);
    const { slot } = await open();
    assert.ok(slot!.number >= 1);
    assert.notEqual(slot!.tenure, null);
  });
});

Deno.test("WriterSlot of a process whose wall leapt is held all the same, and taken over safely where it was not renewed", async () => {
  await withStore(async ({ clock, open }) => {
    const held = await open();
    const { tenure, number } = held.slot!;
    for (const leapMs of [20 * TIMING.leaseMs, -20 * TIMING.leaseMs]) {
      clock.leap(leapMs);
      assert.equal(held.slot!.isLive, false, "not before it is confirmed");
      await held.slot!.confirm();
      assert.ok(held.slot!.isLive);
      assert.deepEqual([held.slot!.tenure, held.slot!.number], [tenure, number]);
    }
    clock.leap(-1);
    assert.ok(held.slot!.isLive, "a correction is no leap");
  });
});

Deno.test("WriterSlot of a process that was frozen for its lease is not live, whatever the wall says", async () => {
  await withStore(async ({ clock, open }) => {
    const { slot } = await open();
    clock.advance(TIMING.leaseMs);
    clock.leap(-TIMING.leaseMs);
    assert.equal(slot!.isLive, false);
    clock.leap(TIMING.leaseMs);
    assert.equal(slot!.isLive, false);
    await slot!.confirm();
    assert.ok(slot!.isLive);
  });
});

Deno.test("WriterSlot is free again as soon as it is given back", async () => {
  await withStore(async ({ kv, open }) => {
    const { slot } = await open();
    await slot!.release();
    assert.equal((await kv.get(["slot", slot!.number, "owner"])).value, null);
    assert.equal((await kv.get(["slot", slot!.number, "lease"])).value, null);
  });
});

Deno.test("WriterSlot given back late leaves its next holder alone", async () => {
  await withStore(async ({ kv, clock, open }) => {
    const { slot } = await open();
    await takeOver(kv, slot!.number, clock.now() + TIMING.leaseMs);
    await slot!.release();
    assert.deepEqual((await kv.get(["slot", slot!.number, "owner"])).value, {
      v: 1,
      holder: "another",
    });
  });
});

Deno.test("WriterSlot renewed during a commit does not fail it", async () => {
  await withStore(async ({ clock, open }) => {
    const slot: { of?: TestStorage } = {};
    const storage = await open({}, {
      intercept: async (commit, run) => {
        if (commit.writes.some(({ key }) => key[0] === "letter")) {
          clock.advance(TIMING.leaseMs * 3);
          await slot.of!.slot!.confirm(); // renews, since the lease has ended
        }
        return await run();
      },
    });
    slot.of = storage;
    await storage.commits.submit(letterJob(storage, "a", "b", "one"));
    assert.equal(storage.commits.counts.conflicts, 0);
  });
});

Deno.test("WriterSlot stops a process that was suspended beyond its lease: nothing commits under the old slot", async () => {
  await withStore(async ({ kv, clock, open }) => {
    const frozen = Promise.withResolvers<void>();
    const thawed = Promise.withResolvers<void>();
    let tries = 0;
    const storage = await open({}, {
      intercept: async (commit, run) => {
        if (!commit.writes.some(({ key }) => key[0] === "letter")) return await run();
        if (++tries === 1) {
          frozen.resolve();
          await thawed.promise;
        }
        return await run();
      },
    });
    const old = storage.slot!.number;
    const sent = storage.commits.submit(letterJob(storage, "a", "b", "frozen"));
    await frozen.promise;
    clock.advance(TIMING.leaseMs + TIMING.clockSkewMs + 1);
    await takeOver(kv, old, clock.now() + TIMING.leaseMs);
    thawed.resolve();
    const id = await sent;
    assert.equal(tries, 2);
    assert.notEqual(storage.slot!.number, old);
    assert.equal(id % 256, storage.slot!.number);
    const letters = await Array.fromAsync(kv.list({ prefix: ["letter"] }));
    assert.deepEqual(letters.map(({ key }) => Number(key[2]) % 256), [id % 256, id % 256]);
  });
});

Deno.test("WriterSlot confirms only ids that were given under it, whichever slot comes next", async () => {
  await withStore(async ({ kv, clock, open }) => {
    const held: { storage?: TestStorage } = {};
    let tries = 0;
    held.storage = await open({ capacity: { ...EMBEDDED_CAPACITY, groupsInFlight: 4 } }, {
      intercept: async (commit, run) => {
        const isLetter = commit.writes.some(({ key }) => key[0] === "letter" && key[1] === "a");
        if (!isLetter || ++tries > 1) return await run();
        // While SQLite keeps this group waiting, the slot is lost and another one leased.
        clock.advance(TIMING.leaseMs + TIMING.clockSkewMs + 1);
        await takeOver(kv, held.storage!.slot!.number, clock.now() + TIMING.leaseMs);
        await held.storage!.commits.submit(letterJob(held.storage!, "x", "y", "other"));
        throw new TypeError("database is locked");
      },
    });
    const old = held.storage.slot!.number;
    const id = await held.storage.commits.submit(letterJob(held.storage, "a", "b", "one"));
    assert.notEqual(held.storage.slot!.number, old);
    assert.equal(id % 256, held.storage.slot!.number);
    assert.equal((await kv.get(letterKey("a", id))).value, "one");
    const letters = await Array.fromAsync(kv.list({ prefix: ["letter"] }));
    assert.ok(letters.every(({ key }) => Number(key[2]) % 256 !== old));
    assert.deepEqual((await kv.get(mailboxKey("a"))).value, { head: id });
  });
});

Deno.test("WriterSlot is held through renewals that are reported as failed", async () => {
  await withStore(async ({ clock, open }) => {
    let denied = 0;
    const storage = await open({}, {
      intercept: async (commit, run) => {
        const outcome = await run();
        const isRenewal = commit.writes[0]!.key[2] === "lease";
        if (!isRenewal) return outcome;
        denied++;
        return { ok: false };
      },
    });
    const { tenure } = storage.slot!;
    clock.advance(TIMING.leaseMs * 5);
    await storage.slot!.confirm();
    assert.ok(denied > 0);
    assert.equal(storage.slot!.tenure, tenure);
    assert.ok(storage.slot!.isLive);
  });
});

Deno.test("WriterSlot taken by a commit that was reported as failed is held all the same", async () => {
  await withStore(async ({ open }) => {
    let takes = 0;
    const storage = await open({}, {
      intercept: async (commit, run) => {
        const outcome = await run();
        if (commit.writes[0]?.key[2] !== "owner") return outcome;
        takes++;
        return { ok: false };
      },
    });
    assert.equal(takes, 1);
    assert.ok(storage.slot!.number >= 1);
  });
});

Deno.test("WriterSlot is not live after a jump of the clock until it is renewed", async () => {
  await withStore(async ({ clock, open }) => {
    const { slot } = await open();
    for (const jumpMs of [6, -12, 6].map((leases) => leases * TIMING.leaseMs)) {
      clock.advance(jumpMs);
      assert.equal(slot!.isLive, false);
      const { tenure } = slot!;
      await slot!.confirm();
      assert.ok(slot!.isLive);
      assert.equal(slot!.tenure, tenure);
    }
  });
});
