// Over 300 lines: every bound and step of the saving, and all that may come between two of them.
import assert from "node:assert/strict";
import {
  type ControlledCommits,
  withControlledCommits,
} from "../../../../tests/support/controlled_commits.ts";
import {
  doneKey,
  Gate,
  journalNumbers,
  known,
  NEVER,
  rowOf,
  type Step,
  stepOf,
  tabJob,
  tabKey,
  until,
  writesOperation,
} from "../../../../tests/support/journal.ts";
import { delay, settlesWithin } from "../../../../tests/support/pace.ts";
import { openTestStorage } from "../../../../tests/support/storage.ts";
import type { Job } from "./group_commit.ts";
import { QUEUE_BOUNDS } from "./job_queue.ts";
import { recordName } from "./record_cache.ts";

const stepsOf = ({ commits }: ControlledCommits): Step[] => commits.map(stepOf);

Deno.test("a commit puts deferred records into one row of the journal, and closing puts them into their rows", async () => {
  await withControlledCommits(async ({ kv, storage, commits }) => {
    await storage.commits.submit(tabJob(storage, 1, ["a", "b"]));
    await storage.commits.submit(tabJob(storage, 2, ["b", "c"]));
    assert.deepEqual(commits.map(stepOf), ["group", "group"]);
    assert.deepEqual(await journalNumbers(kv), [1, 2]);
    assert.equal(await rowOf(kv, "b"), null);
    assert.deepEqual(await known(storage, "b"), [1, 2]);
    assert.deepEqual(storage.journal!.size, { rows: 2, records: 3 });
    await storage.close();
    assert.deepEqual(await journalNumbers(kv), []);
    assert.deepEqual(await rowOf(kv, "a"), [1]);
    assert.deepEqual(await rowOf(kv, "b"), [1, 2]);
    assert.deepEqual(await rowOf(kv, "c"), [2]);
  }, { journalBounds: NEVER });
});

Deno.test("a shared store has no journal: a commit checks and writes the rows of deferred records", async () => {
  await withControlledCommits(async ({ kv, storage, commits }) => {
    assert.equal(storage.journal, null);
    await storage.commits.submit(tabJob(storage, 1, ["a", "b"]));
    await kv.set(tabKey("a"), { done: [1, 7] }); // another process
    await storage.commits.submit(tabJob(storage, 2, ["a"]));
    assert.deepEqual(await rowOf(kv, "a"), [1, 7, 2]);
    assert.deepEqual(await journalNumbers(kv), []);
    assert.deepEqual(commits[0]!.checks.filter(({ key }) => key[0] === "tab").length, 2);
  }, { exclusive: false });
});

Deno.test("every commit takes a number, one that writes nothing none", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    await storage.commits.submit((transaction) => transaction.record(tabKey("a")));
    assert.deepEqual(storage.journal!.size, { rows: 0, records: 0 });
    await storage.commits.submit((transaction) =>
      transaction.set(doneKey(1), transaction.record(tabKey("a")) === null)
    );
    assert.deepEqual(storage.journal!.size, { rows: 1, records: 0 });
    assert.deepEqual(await journalNumbers(kv), [1]);
  }, { journalBounds: NEVER });
});

Deno.test("so many rows start the saving, and not fewer", async () => {
  await withControlledCommits(async (controlled) => {
    const { kv, storage } = controlled;
    await storage.commits.submit(tabJob(storage, 1, ["a"]));
    await storage.commits.submit(tabJob(storage, 2, ["a"]));
    await delay(20);
    assert.deepEqual(stepsOf(controlled), ["group", "group"]);
    await storage.commits.submit(tabJob(storage, 3, ["a"]));
    await until(() => storage.journal!.size.rows === 0);
    assert.deepEqual(stepsOf(controlled), ["group", "group", "group", "raise", "save", "deletion"]);
    assert.deepEqual(await rowOf(kv, "a"), [1, 2, 3]);
    assert.deepEqual(await journalNumbers(kv), []);
  }, { journalBounds: { ...NEVER, rows: 3 } });
});

Deno.test("so many records behind start the saving, and not fewer", async () => {
  await withControlledCommits(async (controlled) => {
    const { kv, storage } = controlled;
    for (let i = 1; i <= 5; i++) await storage.commits.submit(tabJob(storage, i, ["a", "b"]));
    await delay(20);
    assert.deepEqual(new Set(stepsOf(controlled)), new Set(["group"]));
    await storage.commits.submit(tabJob(storage, 6, ["c"]));
    await until(() => storage.journal!.size.rows === 0);
    assert.deepEqual(await rowOf(kv, "a"), [1, 2, 3, 4, 5]);
    assert.deepEqual(await rowOf(kv, "c"), [6]);
  }, { journalBounds: { ...NEVER, records: 3 } });
});

Deno.test("time alone starts the saving, of what comes after one as of what came before it", async () => {
  await withControlledCommits(async (controlled) => {
    const { kv, storage } = controlled;
    for (const operation of [1, 2]) {
      const from = controlled.commits.length;
      await storage.commits.submit(tabJob(storage, operation, ["a"]));
      assert.deepEqual(stepsOf(controlled).slice(from), ["group"]);
      await until(() => storage.journal!.size.rows === 0);
      assert.equal((await rowOf(kv, "a"))!.at(-1), operation);
    }
  }, { journalBounds: { ...NEVER, afterMs: 60 } });
});

for (const bound of ["rows", "records"] as const) {
  Deno.test(`a journal that is full of ${bound} holds groups back until there is room`, async () => {
    const saves = new Gate();
    await withControlledCommits(async ({ kv, storage }) => {
      saves.close();
      let at = 0;
      while (!storage.journal!.isFull) {
        await storage.commits.submit(tabJob(storage, ++at, [`t${at}`]));
        assert.ok(at <= 6);
      }
      assert.equal(at, 6); // three times the bound
      const late = storage.commits.submit(tabJob(storage, 100, ["late"]));
      assert.ok(!await settlesWithin(late, 80));
      assert.equal((await kv.get(doneKey(100))).value, null);
      saves.open();
      assert.equal(await late, 100);
      assert.deepEqual(await rowOf(kv, "t1"), [1]);
    }, {
      journalBounds: { ...NEVER, [bound]: 2 },
      async intercept(commit, run) {
        if (stepOf(commit) === "save") await saves.pass();
        return await run();
      },
    });
  });
}

Deno.test("a full journal that an open commit keeps full lets everything else of the process run", async () => {
  const first = new Gate();
  await withControlledCommits(async ({ kv, storage }) => {
    first.close();
    const open = storage.commits.submit(tabJob(storage, 1, ["slow"]));
    await first.reached();
    for (let i = 2; i <= 6; i++) await storage.commits.submit(tabJob(storage, i, ["a"]));
    assert.ok(storage.journal!.isFull);
    const late = storage.commits.submit(tabJob(storage, 7, ["a"]));
    assert.ok(!await settlesWithin(late, 50)); // a timer runs meanwhile
    first.open();
    assert.deepEqual(await Promise.all([open, late]), [1, 7]);
    await until(async () => `${await rowOf(kv, "a")}` === "2,3,4,5,6,7");
  }, {
    journalBounds: { ...NEVER, rows: 2, afterMs: 20 },
    async intercept(commit, run) {
      if (writesOperation(commit, 1)) await first.pass();
      return await run();
    },
  });
});

Deno.test("a record that changes while it is saved stays behind, and is saved later", async () => {
  const saves = new Gate();
  await withControlledCommits(async ({ kv, storage }) => {
    saves.close();
    await storage.commits.submit(tabJob(storage, 1, ["a", "b"]));
    await storage.commits.submit(tabJob(storage, 2, ["b"]));
    await saves.reached();
    await storage.commits.submit(tabJob(storage, 3, ["a"]));
    const entry = storage.records.peek("tab/a")!;
    saves.open();
    await until(() => storage.records.peek("tab/b")?.unsaved === false);
    await until(async () => `${await journalNumbers(kv)}` === "3");
    assert.deepEqual(await rowOf(kv, "a"), [1]);
    assert.ok(entry.unsaved);
    assert.deepEqual(storage.journal!.size, { rows: 1, records: 1 });
    storage.records.evict("tab/a");
    storage.records.refresh(tabKey("a"));
    assert.deepEqual(await known(storage, "a"), [1, 3]);
    await storage.commits.submit(tabJob(storage, 4, ["c"])); // the second row: saved again
    await until(async () => (await journalNumbers(kv)).length === 0);
    assert.deepEqual(await rowOf(kv, "a"), [1, 3]);
    assert.ok(!entry.unsaved);
  }, {
    journalBounds: { ...NEVER, rows: 2 },
    async intercept(commit, run) {
      if (stepOf(commit) === "save") await saves.pass();
      return await run();
    },
  });
});

Deno.test("a record that is doubted while its commit is under way stays, once that was stored", async () => {
  const groups = new Gate();
  await withControlledCommits(async ({ storage }) => {
    groups.close();
    const open = storage.commits.submit(tabJob(storage, 1, ["a"]));
    await groups.reached();
    storage.records.evict("tab/a");
    groups.open();
    await open;
    assert.deepEqual(await known(storage, "a"), [1]);
  }, {
    journalBounds: NEVER,
    async intercept(commit, run) {
      if (stepOf(commit) === "group") await groups.pass();
      return await run();
    },
  });
});

Deno.test("rows of the journal go only after their records are saved, and never past an open commit", async () => {
  const groups = new Gate();
  await withControlledCommits(async (controlled) => {
    const { kv, storage } = controlled;
    await storage.commits.submit(tabJob(storage, 1, ["a"]));
    groups.close();
    const open = storage.commits.submit(tabJob(storage, 2, ["slow"]));
    await groups.reached();
    await storage.commits.submit(tabJob(storage, 3, ["a"])); // the third number: saved
    await until(async () => `${await rowOf(kv, "a")}` === "1,3");
    await until(async () => `${await journalNumbers(kv)}` === "3");
    await delay(20);
    assert.deepEqual(await journalNumbers(kv), [3]);
    groups.open();
    await open;
    assert.deepEqual(await journalNumbers(kv), [2, 3]);
    await storage.close();
    assert.deepEqual(await journalNumbers(kv), []);
    assert.deepEqual(await rowOf(kv, "slow"), [2]);
  }, {
    journalBounds: { ...NEVER, rows: 3 },
    async intercept(commit, run) {
      if (writesOperation(commit, 2)) await groups.pass();
      return await run();
    },
  });
});

Deno.test("a step of the saving that fails leaves all rows that it would have needed, and is tried again", async () => {
  for (const failing of ["save", "deletion"] as const) {
    let failures = 0;
    await withControlledCommits(async ({ kv, storage }) => {
      await storage.commits.submit(tabJob(storage, 1, ["a"]));
      await storage.commits.submit(tabJob(storage, 2, ["b"]));
      await until(() => failures === 1);
      assert.deepEqual(await journalNumbers(kv), [1, 2]);
      await storage.commits.submit(tabJob(storage, 3, ["a"]));
      await until(async () => (await journalNumbers(kv)).length === 0);
      assert.deepEqual(await rowOf(kv, "a"), [1, 3]);
      assert.deepEqual(await rowOf(kv, "b"), [2]);
    }, {
      journalBounds: { ...NEVER, rows: 2, afterMs: 20 },
      intercept(commit, run) {
        if (stepOf(commit) !== failing || failures > 0) return run();
        failures++;
        return Promise.reject(new Error("database or disk is full"));
      },
    });
  }
});

Deno.test("memory never drops a record whose row is behind, however many pass by", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `t${i}`);
  await withControlledCommits(async ({ kv, storage }) => {
    for (const name of names) await kv.set(tabKey(name), { done: [-1] });
    for (const [i, name] of names.entries()) {
      await storage.commits.submit(tabJob(storage, i, [name]));
    }
    for (let i = 0; i < 200; i++) await storage.records.load(tabKey(`other${i}`));
    for (const [i, name] of names.entries()) {
      storage.records.evict(recordName(tabKey(name)));
      storage.records.refresh(tabKey(name));
      assert.deepEqual(await known(storage, name), [-1, i]);
    }
    const many = await storage.records.readMany(names.map(tabKey));
    assert.deepEqual(many.map((tab) => tab!.done), names.map((_, i) => [-1, i]));
    // A failed commit drops from memory what it touched, but not these.
    const refused: Job<null> = {
      records: [tabKey("t0")],
      sizeBytes: 100,
      plan(transaction) {
        transaction.requireAbsent(doneKey(0));
        transaction.putRecord(tabKey("t0"), { done: [] });
        return null;
      },
    };
    await assert.rejects(storage.commits.submit(refused));
    assert.deepEqual(await known(storage, "t0"), [-1, 0]);
    await storage.close();
    for (let i = 200; i < 400; i++) await storage.records.load(tabKey(`other${i}`));
    assert.ok(storage.records.size <= 4, `${storage.records.size}`);
    for (const [i, name] of names.entries()) assert.deepEqual(await known(storage, name), [-1, i]);
  }, { journalBounds: NEVER, cached: 4, bounds: { ...QUEUE_BOUNDS, retryForMs: 100 } });
});

Deno.test("closing on a store that takes no write leaves the journal to the next start", async () => {
  let full = false;
  await withControlledCommits(async ({ kv, storage }) => {
    await storage.commits.submit(tabJob(storage, 1, ["a"]));
    full = true;
    await storage.close();
    assert.deepEqual(await journalNumbers(kv), [1]);
    const later = await openTestStorage(kv);
    assert.deepEqual(await rowOf(kv, "a"), [1]);
    assert.deepEqual(await journalNumbers(kv), []);
    await later.close();
  }, {
    journalBounds: NEVER,
    intercept: (_, run) => full ? Promise.reject(new Error("database or disk is full")) : run(),
  });
});

Deno.test("closing ends where a full journal has kept a job waiting that is given up by then", async () => {
  let full = false;
  await withControlledCommits(async ({ kv, storage }) => {
    full = true;
    while (!storage.journal!.isFull) {
      await storage.commits.submit(tabJob(storage, storage.journal!.size.rows, ["a"]));
    }
    await assert.rejects(storage.commits.submit(tabJob(storage, 100, ["a"])), {
      code: "unavailable",
    });
    await storage.close();
    assert.deepEqual(await journalNumbers(kv), [1, 2, 3]);
  }, {
    journalBounds: { ...NEVER, rows: 1 },
    bounds: { ...QUEUE_BOUNDS, giveUpAfterMs: 50, checkEveryMs: 10 },
    intercept: (commit, run) =>
      full && stepOf(commit) === "save"
        ? Promise.reject(new Error("database or disk is full"))
        : run(),
  });
});
