import assert from "node:assert/strict";
import { withControlledCommits } from "../../../../tests/support/controlled_commits.ts";
import { createFakeKv, type FakeKv } from "../../../../tests/support/fake_kv.ts";
import {
  doneKey,
  journalNumbers,
  known,
  NEVER,
  rowOf,
  stepOf,
  type Tab,
  tabJob,
  tabKey,
  until,
} from "../../../../tests/support/journal.ts";
import { delay, settlesWithin } from "../../../../tests/support/pace.ts";
import { openTestStorage, type TestStorage } from "../../../../tests/support/storage.ts";
import { storedRecord } from "../../../../tests/support/stored_record.ts";
import type { Job } from "./group_commit.ts";
import { QUEUE_BOUNDS } from "./job_queue.ts";
import { Journal, type JournalRow } from "./journal.ts";

/** What the store may do to one commit. */
type Fault = (run: () => Promise<unknown>) => Promise<never>;
const lost = () => new TypeError("error sending request");
const LOST: Fault = async (run) => {
  await run();
  throw lost();
};
const REFUSED: Fault = () => Promise.reject(lost());

Deno.test("a commit whose answer was lost is known by its row, and not tried again", async () => {
  let losses = 1;
  await withControlledCommits(async (controlled) => {
    const { kv, storage } = controlled;
    const committed: number[] = [];
    const job = { ...tabJob(storage, 1, ["a"]), committed: (n: number) => void committed.push(n) };
    assert.equal(await storage.commits.submit(job), 1);
    assert.deepEqual(committed, [1]);
    assert.equal(storage.commits.counts.groups, 1);
    assert.equal(storage.commits.counts.conflicts, 0);
    assert.ok(storage.records.peek("tab/a")!.unsaved);
    assert.deepEqual(await known(storage, "a"), [1]);
    assert.deepEqual(await journalNumbers(kv), [1]);
    await storage.commits.submit(tabJob(storage, 2, ["a"]));
    await storage.close();
    assert.deepEqual(await rowOf(kv, "a"), [1, 2]);
  }, {
    journalBounds: NEVER,
    intercept: (commit, run) => stepOf(commit) === "group" && losses-- > 0 ? LOST(run) : run(),
  });
});

Deno.test("a commit that was not stored uses its number up, and its jobs are stored once under the next", async () => {
  let losses = 1;
  await withControlledCommits(async ({ kv, storage }) => {
    await kv.set(tabKey("a"), { done: [0] });
    assert.equal(await storage.commits.submit(tabJob(storage, 1, ["a"])), 1);
    const rows = await Array.fromAsync(kv.list<JournalRow>({ prefix: ["journal"] }));
    assert.deepEqual(rows.map(({ value }) => value.attempt === null), [true, false]);
    assert.deepEqual(await known(storage, "a"), [0, 1]);
    await storage.close();
    assert.deepEqual(await rowOf(kv, "a"), [0, 1]);
    assert.deepEqual(await journalNumbers(kv), []);
  }, {
    journalBounds: NEVER,
    intercept: (commit, run) => stepOf(commit) === "group" && losses-- > 0 ? REFUSED(run) : run(),
  });
});

Deno.test("a commit that comes to the store later than its fence is not stored", async () => {
  let late: (() => Promise<Deno.KvCommitResult | Deno.KvCommitError>) | undefined;
  await withControlledCommits(async ({ kv, storage }) => {
    // Nothing but its number is checked.
    const job: Job<number> = {
      ...tabJob(storage, 1, ["a", "b"]),
      findResult: undefined,
      plan(transaction) {
        for (const name of ["a", "b"]) {
          const done = transaction.record<Tab>(tabKey(name))?.done ?? [];
          transaction.putRecord<Tab>(tabKey(name), { done: [...done, 1] });
        }
        return 1;
      },
    };
    assert.equal(await storage.commits.submit(job), 1);
    await storage.commits.submit(tabJob(storage, 2, ["b"]));
    assert.deepEqual(await late!(), { ok: false });
    assert.deepEqual(await known(storage, "a"), [1]);
    assert.deepEqual((await storedRecord(kv, tabKey("b"))).value!.done, [1, 2]);
    await storage.close();
    assert.deepEqual(await rowOf(kv, "b"), [1, 2]);
  }, {
    journalBounds: NEVER,
    intercept(commit, run) {
      if (stepOf(commit) !== "group" || late !== undefined) return run();
      late = run;
      return REFUSED(run);
    },
  });
});

Deno.test("a commit that comes to the store long after its fence, when all was saved, is not stored", async () => {
  let late: (() => Promise<Deno.KvCommitResult | Deno.KvCommitError>) | undefined;
  await withControlledCommits(async ({ kv, storage }) => {
    assert.equal(
      await storage.commits.submit({ ...tabJob(storage, 1, ["a"]), findResult: undefined }),
      1,
    );
    for (let i = 2; i < 6; i++) await storage.commits.submit(tabJob(storage, i, ["a"]));
    await until(async () => (await journalNumbers(kv)).length === 1);
    await kv.delete(doneKey(1)); // its row expires: nothing but its number is left to tell
    assert.deepEqual(await late!(), { ok: false });
    await storage.close();
    assert.deepEqual(await rowOf(kv, "a"), [1, 2, 3, 4, 5]);
    assert.deepEqual(await journalNumbers(kv), []);
  }, {
    journalBounds: { ...NEVER, rows: 2, afterMs: 5 },
    intercept(commit, run) {
      if (stepOf(commit) !== "group" || late !== undefined) return run();
      late = run;
      return REFUSED(run);
    },
  });
});

Deno.test("a fence whose own answer is lost, and one that the disk has no room for, end as well", async () => {
  for (const fault of [LOST, REFUSED]) {
    let groups = 1;
    let fences = 1;
    await withControlledCommits(async ({ kv, storage }) => {
      assert.equal(await storage.commits.submit(tabJob(storage, 1, ["a"])), 1);
      assert.equal(fences, 0);
      assert.equal(storage.commits.counts.groups, 2);
      await storage.close();
      assert.deepEqual(await rowOf(kv, "a"), [1]);
    }, {
      journalBounds: NEVER,
      withFences: true,
      intercept(commit, run) {
        const step = stepOf(commit);
        if (step === "group" && groups-- > 0) return REFUSED(run);
        if (step === "fence" && fences-- > 0) return fault(run);
        return run();
      },
    });
  }
});

/** A store that tells nothing for a while, after it has stored a commit or has not. */
async function withSilentStore(
  isStored: boolean,
  body: (
    kv: Deno.Kv,
    storage: TestStorage,
    silence: { begin(): void; end(): void },
  ) => Promise<void>,
): Promise<void> {
  using kv = await Deno.openKv(":memory:");
  let begins = false;
  let silent = false;
  const fake: FakeKv = createFakeKv({
    kv,
    maxChecks: 100,
    async intercept(commit, run) {
      if (begins && stepOf(commit) === "group") {
        begins = false;
        silent = true;
        if (isStored) await run();
        throw lost();
      }
      // What belongs to other records goes on.
      if (silent && stepOf(commit) === "fence") throw lost();
      return await run();
    },
  });
  const get = fake.get.bind(fake);
  fake.get =
    ((key: Deno.KvKey) =>
      silent && key[0] === "journal" ? Promise.reject(lost()) : get(key)) as typeof fake.get;
  const storage = await openTestStorage(fake, {
    journalBounds: { ...NEVER, rows: 4 },
    bounds: { ...QUEUE_BOUNDS, giveUpAfterMs: 2_000, checkEveryMs: 10 },
  });
  await body(kv, storage, {
    begin: () => void (begins = true),
    end: () => void (silent = false),
  });
  await storage.close();
}

for (const isStored of [true, false]) {
  const name = isStored ? "was stored" : "was not stored";

  Deno.test(`a commit of which the store tells nothing keeps its records until it tells that it ${name}`, async () => {
    await withSilentStore(isStored, async (kv, storage, silence) => {
      await storage.commits.submit(tabJob(storage, 1, ["a", "b"]));
      silence.begin();
      await assert.rejects(storage.commits.submit(tabJob(storage, 2, ["a"])), {
        code: "unavailable",
      });
      const next = storage.commits.submit(tabJob(storage, 3, ["a"]));
      const numbers: number[] = [];
      for (let i = 10; i < 20; i++) {
        numbers.push(await storage.commits.submit(tabJob(storage, i, ["b"])));
        await delay(1);
      }
      assert.deepEqual(numbers.length, 10);
      assert.ok(!await settlesWithin(next, 60));
      assert.equal((await kv.get(doneKey(3))).value, null);
      assert.ok(!(await journalNumbers(kv)).includes(1), "what came before is saved");
      silence.end();
      assert.equal(await next, 3);
      assert.deepEqual(await known(storage, "a"), isStored ? [1, 2, 3] : [1, 3]);
      await storage.close();
      assert.deepEqual(await rowOf(kv, "a"), isStored ? [1, 2, 3] : [1, 3]);
      assert.deepEqual(await rowOf(kv, "b"), [1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
      assert.deepEqual(await journalNumbers(kv), []);
    });
  });

  Deno.test(`a relay that ends before the store tells leaves to the next what ${name}`, async () => {
    await withSilentStore(isStored, async (kv, storage, silence) => {
      await storage.commits.submit(tabJob(storage, 1, ["a", "b"]));
      silence.begin();
      await assert.rejects(storage.commits.submit(tabJob(storage, 2, ["a"])), {
        code: "unavailable",
      });
      await storage.commits.submit(tabJob(storage, 3, ["b"]));
      await storage.close();
      const later = await openTestStorage(kv);
      assert.deepEqual(await known(later, "a"), isStored ? [1, 2] : [1]);
      assert.deepEqual(await known(later, "b"), [1, 3]);
      assert.deepEqual((await kv.get(doneKey(2))).value !== null, isStored);
      await later.close();
      assert.deepEqual(await rowOf(kv, "a"), isStored ? [1, 2] : [1]);
    });
  });
}

Deno.test("Journal.settle() tells another's row under the number from its own", async () => {
  using kv = await Deno.openKv(":memory:");
  const { store } = await openTestStorage(kv);
  const journal = new Journal({ store });
  const number = journal.begin();
  const { check, write } = journal.rowOf(number, "mine", []);
  const versionstamp = await store.commit([check], [write]);
  assert.equal(await journal.settle(number, "mine"), versionstamp);
  assert.equal(await journal.settle(number, "another"), null);
  const second = journal.begin();
  assert.equal(await journal.settle(second, "mine"), null);
  assert.equal(await journal.settle(second, "mine"), null, "asked again, after its own fence");
  journal.ended(number);
  journal.ended(second);
  await journal.close();
  assert.deepEqual(await journalNumbers(kv), []);
});

Deno.test("commits that wait for unclear ones, with nothing to save, let everything else of the process run", async () => {
  using kv = await Deno.openKv(":memory:");
  let silent = true;
  const fake = createFakeKv({
    kv,
    maxChecks: 100,
    intercept: (commit, run) =>
      silent && ["group", "fence"].includes(stepOf(commit)) ? REFUSED(run) : run(),
  });
  const get = fake.get.bind(fake);
  fake.get =
    ((key: Deno.KvKey) =>
      silent && key[0] === "journal" ? Promise.reject(lost()) : get(key)) as typeof fake.get;
  const storage = await openTestStorage(fake, { journalBounds: NEVER });
  const jobs = [];
  for (let i = 0; i < 8; i++) {
    jobs.push(storage.commits.submit(tabJob(storage, i, [`t${i}`])));
    await delay(10);
  }
  const all = Promise.all(jobs);
  assert.ok(!await settlesWithin(all, 50));
  silent = false;
  assert.deepEqual(await all, [0, 1, 2, 3, 4, 5, 6, 7]);
  await storage.close();
  assert.deepEqual(await rowOf(kv, "t7"), [7]);
});
