import assert from "node:assert/strict";
import {
  createFakeKv,
  type FakeCommit,
  type FakeKvOptions,
} from "../../../../tests/support/fake_kv.ts";
import {
  journalNumbers,
  stepOf,
  storeOn,
  type Tab,
  tabKey,
} from "../../../../tests/support/journal.ts";
import { listRows } from "../../../../tests/support/store_rows.ts";
import { type JournalRecord, type JournalRow, journalSizeBytes } from "./journal.ts";
import { replayJournal } from "./replay_journal.ts";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY } from "../rows/store.ts";

/** Rows as commits have left them, in the order of their numbers. */
async function writeJournal(
  kv: Deno.Kv,
  rows: readonly (readonly JournalRecord[])[],
): Promise<void> {
  for (const [i, records] of rows.entries()) {
    const row: JournalRow = { v: 1, attempt: `attempt ${i}`, records };
    await kv.set(["journal", i + 1], row);
  }
}

const tab = (name: string, operation: number, text = ""): JournalRecord => [
  tabKey(name),
  { done: [operation], text } satisfies Tab,
];

/** A hundred and twenty rows: a few records change again and again, some once. */
const LONG: readonly (readonly JournalRecord[])[] = Array.from({ length: 120 }, (_, i) => [
  tab(`often${i % 7}`, i),
  tab("always", i),
  ...(i % 10 === 0 ? [tab(`once${i}`, i)] : []),
]);

async function assertLongReplayed(kv: Deno.Kv): Promise<void> {
  const last = new Map<string, number>();
  for (const records of LONG) {
    for (const [key, value] of records) last.set(String(key[1]), (value as Tab).done[0]!);
  }
  const rows = await Array.fromAsync(kv.list<Tab>({ prefix: ["tab"] }));
  const found = rows.map(({ key, value }) => [String(key[1]), value.done[0]!] as const);
  assert.deepEqual(new Map(found), last);
  assert.deepEqual(await journalNumbers(kv), []);
}

Deno.test("replayJournal() leaves a store without a journal as it is", async () => {
  using kv = await Deno.openKv(":memory:");
  const fake = createFakeKv({ kv });
  assert.equal(await replayJournal(storeOn(fake)), 0);
  assert.deepEqual(fake.commits, []);
});

for (
  const [name, capacity] of Object.entries({
    "an embedded store": EMBEDDED_CAPACITY,
    "a KV server": KV_CONNECT_CAPACITY,
    "a store of a row a commit": { ...EMBEDDED_CAPACITY, mutations: 2 },
    "a store of few mutations a commit": { ...EMBEDDED_CAPACITY, mutations: 9 },
  })
) {
  Deno.test(`replayJournal() gives each record its last value, on ${name}`, async () => {
    using kv = await Deno.openKv(":memory:");
    await kv.set(tabKey("always"), { done: [-1] });
    await writeJournal(kv, LONG);
    const fake = createFakeKv({ kv, maxChecks: capacity.checks });
    assert.equal(await replayJournal(storeOn(fake, capacity)), LONG.length);
    await assertLongReplayed(kv);
    // A commit of the least room still takes one row.
    const most = Math.max(capacity.mutations, 1 + LONG[0]!.length);
    for (const { checks, writes } of fake.commits) {
      assert.ok(checks.length <= capacity.checks && writes.length <= most);
    }
  });
}

Deno.test("replayJournal() takes rows of the largest records in several commits", async () => {
  using kv = await Deno.openKv(":memory:");
  const large = (i: number) => tab(`t${i % 20}`, i, "€".repeat(32_000));
  const rows = Array.from({ length: 40 }, (_, i) => [large(i)]);
  assert.ok(40 * journalSizeBytes(...rows[0]![0]!) > 2 * EMBEDDED_CAPACITY.bytes);
  await writeJournal(kv, rows);
  assert.equal(await replayJournal(storeOn(kv)), 40);
  for (let i = 0; i < 20; i++) {
    assert.deepEqual((await kv.get<Tab>(tabKey(`t${i}`))).value!.done, [20 + i]);
  }
  assert.deepEqual(await journalNumbers(kv), []);
});

Deno.test("replayJournal() takes rows with long keys in several commits", async () => {
  using kv = await Deno.openKv(":memory:");
  const name = (i: number) => `${i}`.padEnd(600, "k");
  const rows = Array.from(
    { length: 100 },
    (_, i) => [tab(name(2 * i), i), tab(name(2 * i + 1), i)],
  );
  await writeJournal(kv, rows);
  assert.equal(await replayJournal(storeOn(kv)), 100);
  assert.equal((await Array.fromAsync(kv.list({ prefix: ["tab"] }))).length, 200);
});

Deno.test("replayJournal() ends rows that only use a number up", async () => {
  using kv = await Deno.openKv(":memory:");
  const used: JournalRow = { v: 1, attempt: null, records: [] };
  await writeJournal(kv, [[tab("a", 1)], [], [tab("a", 2)]]);
  await kv.set(["journal", 2], used);
  await kv.set(["journal", 4], used);
  assert.equal(await replayJournal(storeOn(kv)), 4);
  assert.deepEqual((await kv.get<Tab>(tabKey("a"))).value!.done, [2]);
  assert.deepEqual(await journalNumbers(kv), []);
});

/** A store on which a process dies before or after its nth commit. */
function dyingKv(kv: Deno.Kv, at: number, after: boolean): Deno.Kv {
  let commits = 0;
  const intercept: FakeKvOptions["intercept"] = async (_, run) => {
    if (++commits < at) return await run();
    if (commits === at && after) await run();
    throw new TypeError("killed");
  };
  return createFakeKv({ kv, maxChecks: 100, intercept });
}

Deno.test("replayJournal() that is cut off at any commit is made good by the next, and rows never go before their records", async () => {
  const capacity = { ...EMBEDDED_CAPACITY, mutations: 60 };
  let cuts = 0;
  for (let at = 1, ended = false; !ended && at < 50; at++) {
    for (const after of [false, true]) {
      using kv = await Deno.openKv(":memory:");
      await writeJournal(kv, LONG);
      try {
        await replayJournal(storeOn(dyingKv(kv, at, after), capacity));
        ended = true;
      } catch (error) {
        assert.equal((error as Error).message, "killed");
        // What the rows of the journal do not say any more, the records' own rows say.
        const left = new Set(await journalNumbers(kv));
        for (const [i, records] of LONG.entries()) {
          if (left.has(i + 1)) continue;
          for (const [key] of records) assert.notEqual((await kv.get(key)).versionstamp, null);
        }
      }
      await replayJournal(storeOn(kv, capacity));
      await assertLongReplayed(kv);
    }
    cuts++;
  }
  assert.ok(cuts > 3 && cuts < 50, `${cuts}`);
});

Deno.test("several processes replay at one time, on stores that answer as they like", async () => {
  const capacity = { ...EMBEDDED_CAPACITY, mutations: 20 };
  const faults = { deniedSuccess: 0.2, locked: 0.2, repeated: 0.2 };
  for (let seed = 1; seed <= 10; seed++) {
    using kv = await Deno.openKv(":memory:");
    await writeJournal(kv, LONG);
    const processes = Array.from({ length: 3 }, async (_, i) => {
      const own = createFakeKv({ kv, maxChecks: 100, seed: 10 * seed + i, faults, delayMs: 2 });
      await replayJournal(storeOn(own, capacity));
      await assertLongReplayed(kv); // whichever process did it: this one may read now
    });
    await Promise.all(processes);
  }
});

Deno.test("a replay that comes late undoes nothing that was written after another's", async () => {
  using kv = await Deno.openKv(":memory:");
  await writeJournal(kv, LONG);
  const commits: FakeCommit[] = [];
  const late = createFakeKv({
    kv,
    maxChecks: 100,
    async intercept(commit, run) {
      commits.push(commit);
      if (commits.length === 1) {
        await replayJournal(storeOn(kv));
        await kv.set(tabKey("always"), { done: [1_000] });
      }
      return await run();
    },
  });
  assert.equal(await replayJournal(storeOn(late)), 0);
  assert.deepEqual(commits.map(stepOf), ["replay"]);
  assert.deepEqual((await kv.get<Tab>(tabKey("always"))).value!.done, [1_000]);
  const rows = await listRows(kv);
  await replayJournal(storeOn(kv));
  assert.deepEqual(await listRows(kv), rows);
});
