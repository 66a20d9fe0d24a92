import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createTestClock, TEST_START_MS } from "../../../../tests/support/clock.ts";
import { createFakeKv } from "../../../../tests/support/fake_kv.ts";
import { silentStore } from "../../../../tests/support/silent_store.ts";
import { openTestStorage } from "../../../../tests/support/storage.ts";
import { storeOn } from "../../../../tests/support/store_on.ts";
import { MAX_ID } from "../../bounds/max_id.ts";
import { CALL_DEADLINE_MS, NoAnswer, StoreFailed } from "../rows/call_deadline.ts";
import { CeilingReached, IdSequence, lowestIdAt, nextIdInSlot } from "./id_sequence.ts";

const HOUR_MS = 3_600_000;

async function withKv(body: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await openMemoryKv();
  try {
    await body(kv);
  } finally {
    kv.close();
  }
}

Deno.test("nextIdInSlot gives the smallest greater id with the slot in its low 8 bits", () => {
  assert.equal(nextIdInSlot(0, 0), 256);
  assert.equal(nextIdInSlot(0, 7), 7);
  assert.equal(nextIdInSlot(7, 7), 263);
  assert.equal(nextIdInSlot(255, 0), 256);
  const large = 2 ** 53 - 1024; // beyond 32 bits, where bit operators would wrap
  assert.equal(nextIdInSlot(large, 5), large + 5);
});

Deno.test("lowestIdAt stays below 2^53 until 2094", () => {
  assert.ok(Number.isSafeInteger(lowestIdAt(Date.UTC(2094, 0, 1)) + 4096));
});

Deno.test("IdSequence gives ascending ids not below their time, whatever heads say", async () => {
  await withKv(async (kv) => {
    const { ids, clock } = await openTestStorage(kv);
    const first = ids.next(0, clock.now());
    assert.ok(first >= lowestIdAt(clock.now()));
    assert.equal(first % 256, 0);
    assert.equal(ids.next(0, clock.now()), first + 256);
    assert.equal(ids.next(first + 1000, clock.now()), first + 1024);
  });
});

Deno.test("IdSequence gives no id of a time after 2090, and raises no ceiling for one", async () => {
  await withKv(async (kv) => {
    const clock = createTestClock();
    const { ids } = await openTestStorage(kv, { clock });
    const stored = async () => (await kv.get<number>(["slot", 0, "ceiling"])).value!;
    const before = await stored();
    const impossibleMs = Date.UTC(2094, 11, 1);
    assert.throws(() => ids.next(0, impossibleMs), { code: "unavailable" });
    assert.throws(() => ids.next(MAX_ID - 255, clock.now()), { code: "unavailable" });
    assert.ok(ids.ready(impossibleMs), "nothing waits for what is refused");
    clock.leap(impossibleMs - TEST_START_MS);
    ids.doubt();
    await ids.restore();
    assert.equal(await stored(), before);
    assert.ok(ids.next(0, TEST_START_MS) < before);
    assert.equal(ids.note, null);
  });
});

Deno.test("IdSequence says in clear words that the ids of a store are used up", async () => {
  await withKv(async (kv) => {
    for (const ceiling of [MAX_ID - 10, MAX_ID, 9_037_047_398_412_544]) {
      await kv.set(["slot", 0, "ceiling"], ceiling);
      const { ids, clock, close } = await openTestStorage(kv);
      assert.match(ids.note!, /used up.*restore a backup/);
      assert.ok(ids.ready(clock.now()), "nothing waits for what cannot come");
      assert.throws(() => ids.next(0, clock.now()), { code: "unavailable", message: ids.note! });
      await close();
    }
  });
});

Deno.test("IdSequence never passes the stored ceiling", async () => {
  await withKv(async (kv) => {
    const { ids, clock } = await openTestStorage(kv);
    const stored = async () => (await kv.get<number>(["slot", 0, "ceiling"])).value!;
    const ceiling = await stored();
    assert.ok(ceiling > ids.next(0, clock.now()));
    assert.throws(() => ids.next(ceiling, clock.now()), CeilingReached);
    assert.equal(ids.ready(clock.now()), false);
    await ids.restore();
    assert.ok(ids.ready(clock.now()));
    assert.ok(ids.next(ceiling, clock.now()) <= await stored());
  });
});

Deno.test("IdSequence starts above every id ever given, whatever the clock does", async () => {
  await withKv(async (kv) => {
    const clock = createTestClock();
    const given: number[] = [];
    for (const jumpMs of [0, -HOUR_MS, 2 * HOUR_MS, -24 * HOUR_MS, 0]) {
      clock.set(TEST_START_MS + jumpMs);
      const { ids } = await openTestStorage(kv, { clock }); // the one before has just died
      if (!ids.ready(clock.now())) await ids.restore();
      for (let i = 0; i < 3; i++) given.push(ids.next(0, clock.now()));
    }
    assert.deepEqual(given, given.toSorted((a, b) => a - b));
    assert.equal(new Set(given).size, given.length);
  });
});

Deno.test("IdSequence is not ready across a jump of the clock until the ceiling follows", async () => {
  await withKv(async (kv) => {
    const { ids, clock } = await openTestStorage(kv);
    const before = ids.next(0, clock.now());
    clock.advance(HOUR_MS);
    assert.equal(ids.ready(clock.now()), false);
    await ids.restore();
    assert.ok(ids.ready(clock.now()));
    const ahead = ids.next(0, clock.now());
    assert.ok(ahead > before);
    clock.advance(-HOUR_MS);
    assert.ok(ids.ready(clock.now()));
    assert.equal(ids.next(0, clock.now()), ahead + 256);
  });
});

Deno.test("IdSequence raises the ceiling while there is room, so that no commit waits for it", async () => {
  await withKv(async (kv) => {
    const { ids, clock } = await openTestStorage(kv);
    for (let seconds = 0; seconds < 120; seconds++) {
      clock.advance(1000);
      assert.ok(ids.ready(clock.now()), `after ${seconds} s`);
      await kv.get(["slot", 0, "ceiling"]); // what runs in the background gets its turn
      await kv.get(["slot", 0, "ceiling"]);
      ids.next(0, clock.now());
    }
  });
});

Deno.test("IdSequence stores its ceiling though the store denies its success", async () => {
  await withKv(async (kv) => {
    const fake = createFakeKv({ kv, faults: { deniedSuccess: 0.5, locked: 0.3 } });
    const { ids, clock } = await openTestStorage(fake);
    assert.ok(ids.ready(clock.now()));
    assert.ok(ids.next(0, clock.now()) <= (await kv.get<number>(["slot", 0, "ceiling"])).value!);
  });
});

Deno.test("IdSequence takes a ceiling that was stored for its own, though every answer was lost", async () => {
  await withKv(async (kv) => {
    for (const exclusive of [false, true]) {
      const fake = createFakeKv({
        kv,
        maxChecks: 100,
        intercept: async (commit, run) => {
          const outcome = await run();
          if (commit.writes.some(({ key }) => key[2] === "ceiling")) {
            throw new TypeError("error sending request");
          }
          return outcome;
        },
      });
      const { ids, clock, slot } = await openTestStorage(fake, { exclusive });
      const number = slot?.number ?? 0;
      const ceiling = (await kv.get<number>(["slot", number, "ceiling"])).value!;
      assert.ok(ids.next(0, clock.now()) <= ceiling);
      assert.throws(() => ids.next(ceiling, clock.now()), CeilingReached);
      await slot?.release();
    }
  });
});

Deno.test("IdSequence gives two processes on a shared store ids of different slots", async () => {
  await withKv(async (kv) => {
    const clock = createTestClock();
    const a = await openTestStorage(kv, { exclusive: false, clock });
    const b = await openTestStorage(kv, { exclusive: false, clock });
    const slots = [a, b].map(({ ids }) => ids.next(0, clock.now()) % 256);
    assert.notEqual(slots[0], slots[1]);
    assert.ok(slots.every((slot) => slot >= 1));
    await a.close();
    await b.close();
  });
});

Deno.test("IdSequence gives nothing under a slot that was taken over, and starts over in the next", async () => {
  await withKv(async (kv) => {
    const clock = createTestClock();
    const a = await openTestStorage(kv, { exclusive: false, clock });
    const taken = a.slot!.number;
    // The slot changes hands behind the sequence: memory of the old tenure must not be used.
    clock.advance(60_000);
    await kv.set(["slot", taken, "owner"], { v: 1, holder: "another" });
    await kv.set(["slot", taken, "lease"], { v: 1, untilMs: clock.now() + 60_000 });
    await a.slot!.confirm();
    assert.notEqual(a.slot!.number, taken);
    assert.equal(a.ids.ready(clock.now()), false);
    await a.ids.restore();
    assert.ok(a.ids.ready(clock.now()));
    assert.equal(a.ids.next(0, clock.now()) % 256, a.slot!.number);
    await a.close();
  });
});

Deno.test("IdSequence.open fails where the ceiling cannot be stored", async () => {
  await withKv(async (kv) => {
    const fake = createFakeKv({ kv, intercept: () => Promise.resolve({ ok: false }) });
    await assert.rejects(IdSequence.open(storeOn(fake), null), /ceiling/);
  });
});

Deno.test("IdSequence.open() ends a start whose store does not answer any more", async () => {
  await withKv(async (kv) => {
    for (const answered of [0, 1]) {
      const silent = silentStore(kv);
      let tick = () => {};
      const startTicker = (given: () => void) => {
        tick = given;
        return () => {};
      };
      silent.fallSilentAfter(answered);
      const reached = silent.reached();
      const refused = assert.rejects(
        IdSequence.open(storeOn(silent.kv, { startTicker }), null),
        NoAnswer,
      );
      await reached;
      for (let passedMs = 0; passedMs < CALL_DEADLINE_MS; passedMs += 1000) tick();
      await refused;
    }
  });
});

Deno.test("IdSequence.restore() holds its slot through lost answers, and fails where none comes at all", async () => {
  await withKv(async (kv) => {
    let lost = 0;
    let isStored = true;
    const fake = createFakeKv({
      kv,
      intercept: async (commit, run) => {
        const renews = commit.writes.some(({ key }) => key[0] === "slot" && key[2] === "lease");
        const isLost = renews && lost-- > 0;
        if (isLost && !isStored) throw new TypeError("error sending request");
        const outcome = await run();
        if (isLost) throw new TypeError("error sending request");
        return outcome;
      },
    });
    const { ids, clock, slot } = await openTestStorage(fake, { exclusive: false });
    const number = slot!.number;
    clock.advance(HOUR_MS);
    assert.equal(ids.ready(clock.now()), false);
    lost = 3;
    await ids.restore();
    assert.ok(ids.ready(clock.now()));
    assert.equal(slot!.number, number);
    clock.advance(HOUR_MS);
    lost = Infinity;
    isStored = false;
    await assert.rejects(ids.restore(), StoreFailed);
    assert.equal(ids.ready(clock.now()), false);
    lost = 0;
    await slot!.release();
  });
});
