import assert from "node:assert/strict";
import {
  createFakeKv,
  type FakeCommit,
  type FakeKvOptions,
} from "../../../../tests/support/fake_kv.ts";
import { journalNumbers } from "../../../../tests/support/journal.ts";
import { listRows } from "../../../../tests/support/store_rows.ts";
import { KvBackend } from "../deno_kv/kv_backend.ts";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY, type StoreCapacity } from "../rows/store.ts";
import { endJournal } from "./end_journal.ts";
import {
  type Change,
  DELETED,
  type FormerJournalRow,
  type JournalRow,
  SET,
  THROUGH,
} from "./journal_row.ts";

const NOW_MS = Date.now();
const end = (kv: Deno.Kv, capacity: StoreCapacity = EMBEDDED_CAPACITY) =>
  endJournal(new KvBackend(kv), capacity, NOW_MS);
const tab = (name: string, value: unknown): Change => [SET, ["tab", name], value];

/** Rows as commits have left them, in the order of their numbers. */
async function writeJournal(kv: Deno.Kv, rows: readonly (readonly Change[])[]): Promise<void> {
  for (const [i, changes] of rows.entries()) {
    await kv.set(
      ["journal", i + 1],
      { v: 2, by: `process ${i % 2}`, changes } satisfies JournalRow,
    );
  }
}

/** A hundred and twenty rows: a few rows change again and again, some once, some end, some were written directly. */
const LONG: readonly (readonly Change[])[] = Array.from({ length: 120 }, (_, i): Change[] => [
  tab(`often${i % 7}`, i),
  tab("always", i),
  ...(i % 10 === 0 ? [tab(`once${i}`, i)] : []),
  ...(i % 13 === 5 ? [[DELETED, ["tab", `often${i % 7}`]] as const] : []),
  ...(i === 50 ? [tab("direct", "outdated"), tab("gone", "outdated")] : []),
  ...(i === 117 ? [[THROUGH, ["tab", "direct"]], [THROUGH, ["tab", "gone"]]] as const : []),
]);

/** A store with such a journal, whose last direct writes it has. */
async function writeLong(kv: Deno.Kv): Promise<void> {
  await kv.set(["tab", "always"], -1);
  await kv.set(["tab", "often3"], -1);
  await kv.set(["tab", "direct"], "new");
  await writeJournal(kv, LONG);
}

async function assertLongEnded(kv: Deno.Kv): Promise<void> {
  const last = new Map<string, unknown>();
  for (const [kind, key, value] of LONG.flat()) {
    if (kind === SET) last.set(key[1] as string, value);
    else last.delete(key[1] as string);
  }
  last.set("direct", "new");
  const rows = await Array.fromAsync(kv.list({ prefix: ["tab"] }));
  assert.deepEqual(new Map(rows.map(({ key, value }) => [key[1] as string, value])), last);
  assert.deepEqual(await journalNumbers(kv), []);
}

Deno.test("endJournal() leaves a store without a journal as it is", async () => {
  using kv = await Deno.openKv(":memory:");
  const fake = createFakeKv({ kv });
  assert.equal(await end(fake), 0);
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
  Deno.test(`endJournal() gives each row its last value, on ${name}`, async () => {
    using kv = await Deno.openKv(":memory:");
    await writeLong(kv);
    const fake = createFakeKv({ kv, maxChecks: capacity.checks });
    assert.equal(await end(fake, capacity), LONG.length);
    await assertLongEnded(kv);
    for (const { checks, writes } of fake.commits) {
      assert.ok(checks.length <= capacity.checks);
      // A commit of the least room still takes one row.
      assert.ok(checks.length === 1 || writes.length <= capacity.mutations);
    }
  });
}

Deno.test("endJournal() takes rows of the largest values and of long keys in several commits", async () => {
  using kv = await Deno.openKv(":memory:");
  await writeJournal(kv, [
    ...Array.from({ length: 40 }, (_, i) => [tab(`t${i % 20}`, `${i}`.padEnd(32_000, "€"))]),
    ...Array.from({ length: 100 }, (_, i) => [tab(`${i}`.padEnd(1_500, "k"), i)]),
  ]);
  assert.equal(await end(kv), 140);
  for (let i = 0; i < 20; i++) {
    assert.ok((await kv.get<string>(["tab", `t${i}`])).value!.startsWith(`${20 + i}€`));
  }
  assert.equal((await Array.fromAsync(kv.list({ prefix: ["tab"] }))).length, 120);
});

Deno.test("endJournal() takes a row of as many changes as fit one", async () => {
  using kv = await Deno.openKv(":memory:");
  const changes = Array.from({ length: 940 }, (_, i): Change => [SET, [i], 1]);
  await writeJournal(kv, [changes]);
  assert.equal(await end(kv), 1);
  assert.equal((await Array.fromAsync(kv.list({ prefix: [] }))).length, 940);
});

Deno.test("endJournal() ends rows of the layout before, and rows that only use a number up", async () => {
  using kv = await Deno.openKv(":memory:");
  const former: FormerJournalRow = { v: 1, attempt: "a", records: [[["tab", "a"], 1]] };
  await kv.set(["journal", 1], former);
  await kv.set(["journal", 2], { v: 1, attempt: null, records: [] } satisfies FormerJournalRow);
  await kv.set(["journal", 3], { v: 2, by: null, changes: [] } satisfies JournalRow);
  assert.equal(await end(kv), 3);
  assert.equal((await kv.get(["tab", "a"])).value, 1);
  assert.deepEqual(await journalNumbers(kv), []);
});

Deno.test("endJournal() gives rows what is left of their time, and none to those whose time has passed", async () => {
  using kv = await Deno.openKv(":memory:");
  await kv.set(["tab", "over"], 1);
  await writeJournal(kv, [[
    [SET, ["tab", "over"], 2, NOW_MS - 1],
    [SET, ["tab", "lives"], 2, NOW_MS + 60_000],
  ]]);
  const fake = createFakeKv({ kv });
  await end(fake);
  assert.equal((await kv.get(["tab", "over"])).versionstamp, null);
  const written = fake.commits[0]!.writes.find(({ key }) => key[1] === "lives");
  assert.equal(written!.expireIn, 60_000);
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

Deno.test("endJournal() that is cut off at any commit is made good by the next", async () => {
  const capacity = { ...EMBEDDED_CAPACITY, mutations: 60 };
  let cuts = 0;
  for (let at = 1, ended = false; !ended && at < 50; at++, cuts++) {
    for (const after of [false, true]) {
      using kv = await Deno.openKv(":memory:");
      await writeLong(kv);
      try {
        await end(dyingKv(kv, at, after), capacity);
        ended = true;
      } catch (error) {
        assert.equal((error as Error).message, "killed");
      }
      await end(kv, capacity);
      await assertLongEnded(kv);
    }
  }
  assert.ok(cuts > 3 && cuts < 50, `${cuts}`);
});

Deno.test("several processes end it at one time, on stores that answer as they like", async () => {
  const capacity = { ...EMBEDDED_CAPACITY, mutations: 20 };
  const faults = { deniedSuccess: 0.2, locked: 0.2, repeated: 0.2 };
  for (let seed = 1; seed <= 10; seed++) {
    using kv = await Deno.openKv(":memory:");
    await writeLong(kv);
    const processes = Array.from({ length: 3 }, async (_, i) => {
      const own = createFakeKv({ kv, maxChecks: 100, seed: 10 * seed + i, faults, delayMs: 2 });
      await end(own, capacity);
      await assertLongEnded(kv); // whichever process did it: this one may read now
    });
    await Promise.all(processes);
  }
});

Deno.test("a process that comes late undoes nothing that was written after another has ended it", async () => {
  using kv = await Deno.openKv(":memory:");
  await writeLong(kv);
  const commits: FakeCommit[] = [];
  const late = createFakeKv({
    kv,
    maxChecks: 100,
    async intercept(commit, run) {
      commits.push(commit);
      if (commits.length === 1) {
        await end(kv);
        await kv.set(["tab", "always"], 1_000);
      }
      return await run();
    },
  });
  assert.equal(await end(late), 0);
  assert.equal(commits.length, 1);
  assert.equal((await kv.get(["tab", "always"])).value, 1_000);
  const rows = await listRows(kv);
  await end(kv);
  assert.deepEqual(await listRows(kv), rows);
});
