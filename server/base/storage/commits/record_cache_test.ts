import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import { storeOn } from "../../../../tests/support/store_on.ts";
import assert from "node:assert/strict";
import { createFakeKv, seededRandom } from "../../../../tests/support/fake_kv.ts";
import { until } from "../../../../tests/support/journal.ts";
import {
  mailboxKey,
  openTestStorage,
  type TestStorageOptions,
} from "../../../../tests/support/storage.ts";
import { StoreFailed } from "../rows/call_deadline.ts";
import { RecordCache, recordName } from "./record_cache.ts";
import { defineRecord } from "./record_key.ts";

interface TestRecords {
  kv: Deno.Kv;
  records: RecordCache;
  /** Reads of the store so far. */
  reads: () => number;
}

async function withRecords(
  body: (test: TestRecords) => Promise<void>,
  options: TestStorageOptions & { held?: Promise<void> } = {},
): Promise<void> {
  const kv = await openMemoryKv();
  const fake = createFakeKv({ kv });
  let reads = 0;
  const get = fake.get.bind(fake);
  fake.get = (async (key: Deno.KvKey) => {
    if (key[0] !== "box") return await get(key);
    reads++;
    const row = await get(key);
    await options.held;
    return row;
  }) as typeof fake.get;
  const storage = await openTestStorage(fake, options);
  try {
    await body({ kv, records: storage.records, reads: () => reads });
    await storage.close();
  } finally {
    kv.close();
  }
}

Deno.test("RecordCache.load() shares one read among concurrent calls and keeps what it found", async () => {
  await withRecords(async ({ kv, records, reads }) => {
    await kv.set(mailboxKey("a"), { head: 3 });
    const [one, two] = await Promise.all([
      records.load(mailboxKey("a")),
      records.load(mailboxKey("a")),
    ]);
    assert.equal(one, two);
    assert.deepEqual(one.value, { head: 3 });
    await records.load(mailboxKey("a"));
    assert.equal(reads(), 1);
  });
});

Deno.test("RecordCache.load() reads again what was evicted while it was read", async () => {
  const held = Promise.withResolvers<void>();
  await withRecords(async ({ kv, records, reads }) => {
    await kv.set(mailboxKey("a"), { head: 1 });
    const load = records.load(mailboxKey("a"));
    await kv.get(mailboxKey("a")); // the read is under way
    await kv.set(mailboxKey("a"), { head: 2 });
    records.evict("box/a");
    held.resolve();
    assert.deepEqual((await load).value, { head: 2 });
    assert.equal(reads(), 2);
  }, { held: held.promise });
});

Deno.test("RecordCache.load() forgets a read that failed", async () => {
  const kv = await openMemoryKv();
  const fake = createFakeKv({ kv });
  let fails = true;
  const get = fake.get.bind(fake);
  fake.get =
    ((key: Deno.KvKey) =>
      fails ? Promise.reject(new TypeError("error sending request")) : get(key)) as typeof fake.get;
  const records = new RecordCache(storeOn(fake));
  await assert.rejects(records.load(mailboxKey("a")), StoreFailed);
  fails = false;
  assert.equal((await records.load(mailboxKey("a"))).value, null);
  kv.close();
});

Deno.test("RecordCache.read() answers from memory on an exclusive store, from the store on a shared one", async () => {
  for (const exclusive of [true, false]) {
    await withRecords(async ({ kv, records }) => {
      await kv.set(mailboxKey("a"), { head: 1 });
      assert.deepEqual(await records.read(mailboxKey("a")), { head: 1 });
      await kv.set(mailboxKey("a"), { head: 2 });
      assert.deepEqual(await records.read(mailboxKey("a")), { head: exclusive ? 1 : 2 });
    }, { exclusive });
  }
});

Deno.test("RecordCache.read() keeps no absent records, so that look-ups of missing names fill no memory", async () => {
  await withRecords(async ({ records }) => {
    const before = records.size;
    for (let i = 0; i < 50; i++) assert.equal(await records.read(mailboxKey(`none${i}`)), null);
    assert.equal(records.size, before);
  });
});

Deno.test("RecordCache.evict() leaves a locked record in place until its group has ended", async () => {
  await withRecords(async ({ records, reads }) => {
    const entry = await records.load(mailboxKey("a"));
    entry.locked = true;
    records.evict("box/a");
    assert.equal(records.peek("box/a"), entry);
    records.unlock("box/a", entry);
    assert.equal(records.peek("box/a"), undefined);
    await records.load(mailboxKey("a"));
    assert.equal(reads(), 2);
  });
});

Deno.test("RecordCache.refresh() reads the store again unless a group holds the record", async () => {
  await withRecords(async ({ kv, records }) => {
    await records.load(mailboxKey("a"));
    await kv.set(mailboxKey("a"), { head: 9 });
    records.refresh(mailboxKey("a"));
    const entry = await records.load(mailboxKey("a"));
    assert.deepEqual(entry.value, { head: 9 });
    entry.locked = true;
    records.refresh(mailboxKey("a"));
    assert.equal(await records.load(mailboxKey("a")), entry);
    records.unlock("box/a", entry);
    assert.equal(records.peek("box/a"), entry); // nothing doubted it
  });
});

Deno.test("RecordCache keeps within its capacity and keeps what is used", async () => {
  await withRecords(async ({ records }) => {
    for (let i = 0; i < 1_000; i++) {
      await records.load(mailboxKey(`r${i}`));
      records.peek("box/r0"); // in use all the time
      assert.ok(records.size <= 100, `${records.size} after ${i}`);
    }
    assert.notEqual(records.peek("box/r0"), undefined);
    assert.equal(records.size, 100);
  }, { cached: 100 });
});

Deno.test("RecordCache never drops a locked record, and later returns to its capacity", async () => {
  await withRecords(async ({ records }) => {
    const locked = await Promise.all(
      Array.from({ length: 150 }, (_, i) => records.load(mailboxKey(`l${i}`))),
    );
    const held = locked.filter((entry) => records.peek(recordName(entry.key)) === entry);
    for (const entry of held) entry.locked = true;
    for (let i = 0; i < 300; i++) await records.load(mailboxKey(`r${i}`));
    for (const entry of held) {
      assert.equal(records.peek(recordName(entry.key)), entry);
      records.unlock(recordName(entry.key), entry);
    }
    for (let i = 300; i < 900; i++) await records.load(mailboxKey(`r${i}`));
    assert.equal(records.size, 100);
  }, { cached: 100 });
});

Deno.test("jobs commit rightly while far more records are in use than memory holds", async () => {
  const kv = await openMemoryKv();
  const storage = await openTestStorage(createFakeKv({ kv, maxChecks: 100 }), { cached: 5 });
  const boxes = Array.from({ length: 40 }, (_, i) => `b${i}`);
  const add = (box: string) =>
    storage.commits.submit<number>({
      records: [mailboxKey(box)],
      sizeBytes: 100,
      plan(transaction) {
        const head = (transaction.record<{ head: number }>(mailboxKey(box))?.head ?? 0) + 1;
        transaction.putRecord(mailboxKey(box), { head, attempt: transaction.attempt });
        return head;
      },
    });
  for (let round = 1; round <= 5; round++) {
    assert.deepEqual(await Promise.all(boxes.map(add)), boxes.map(() => round));
  }
  assert.ok(storage.records.size <= 5);
  await storage.close();
  kv.close();
});

interface Tab {
  done: readonly number[];
}

const busyTab = defineRecord<Tab, [name: string]>(["busy-tab"], 1);

Deno.test("a record that memory drops for one that a job of the same group asks for is changed by no two groups", async () => {
  using kv = await openMemoryKv();
  const journalBounds = { rows: 1_000, changes: 1_000, bytes: 1_000_000, afterMs: 0 };
  const { records, commits, journal, close } = await openTestStorage(kv, {
    cached: 3,
    journalBounds,
  });
  const random = seededRandom(1);
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const noted = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let operation = 0; operation < 120;) {
    const [one, other] = [0, 1].map(() => names[Math.floor(random() * names.length)]!);
    await Promise.all([one!, other!, one!].map((name) => {
      const number = operation++;
      noted.get(name)!.push(number);
      return commits.submit((transaction) => {
        const done = transaction.record(busyTab(name))?.done ?? [];
        transaction.putRecord(busyTab(name), { done: [...done, number] });
      });
    }));
    await until(() => journal!.size.changes === 0);
  }
  const found = await Promise.all(names.map((name) => records.read<Tab>(busyTab(name))));
  const done = found.map((tab) => tab?.done.toSorted((a, b) => a - b));
  assert.deepEqual(done, [...noted.values()]);
  await close();
});
