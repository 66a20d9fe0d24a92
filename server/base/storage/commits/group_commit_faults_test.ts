import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import {
  boxesOf,
  countJob,
  headOf,
  type Intercept,
  withControlledCommits,
} from "../../../../tests/support/controlled_commits.ts";
import { type CommitOutcome, createFakeKv } from "../../../../tests/support/fake_kv.ts";
import {
  letterJob,
  letterKey,
  mailboxKey,
  onceKey,
  openTestStorage,
  type TestMailbox,
} from "../../../../tests/support/storage.ts";
import { type Job, Outdated, type Transaction } from "./group_commit.ts";

Deno.test("GroupCommit allocates ids anew for a retry", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    const before = await storage.commits.submit(letterJob(storage, "a", "b", "before"));
    // Another process has put a later letter into b: the first plan's id would stand behind it.
    const theirs = before + 256 * 5_000;
    await kv.set(mailboxKey("b"), { head: theirs });
    const planned: number[] = [];
    const job = letterJob(storage, "a", "b", "after");
    const plan = (transaction: Transaction) => {
      planned.push(job.plan(transaction));
      return planned.at(-1)!;
    };
    const id = await storage.commits.submit({ ...job, plan });
    assert.equal(planned.length, 2);
    assert.ok(planned[0]! < theirs);
    assert.equal(id, planned[1]);
    assert.ok(id > theirs);
    assert.equal((await kv.get(letterKey("a", planned[0]!))).value, null);
  }, { exclusive: false });
});

Deno.test("GroupCommit changes no record in memory when its commit failed", async () => {
  let deny = true;
  const intercept: Intercept = (_, run) => {
    if (!deny) return run();
    return Promise.resolve({ ok: false });
  };
  await withControlledCommits(async ({ kv, storage }) => {
    const committed: number[] = [];
    const job = { ...countJob("a"), committed: (n: number) => void committed.push(n) };
    await assert.rejects(storage.commits.submit(job), { code: "unavailable" });
    assert.deepEqual(committed, []);
    assert.equal(await storage.records.read(mailboxKey("a")), null);
    assert.equal(await headOf(kv, "a"), 0);
    deny = false;
    assert.equal(await storage.commits.submit(job), 1);
    assert.deepEqual(committed, [1]);
  }, { intercept });
});

Deno.test("GroupCommit reads again what a failed commit touched", async () => {
  let failures = 0;
  const intercept: Intercept = (_, run) => {
    if (failures > 0) return run();
    failures++;
    return Promise.reject(new TypeError("error sending request"));
  };
  await withControlledCommits(async ({ kv, storage }) => {
    await kv.set(mailboxKey("a"), { head: 1 });
    await storage.records.load(mailboxKey("a"));
    await kv.set(mailboxKey("a"), { head: 7 });
    assert.equal(await storage.commits.submit(countJob("a")), 8);
    assert.equal(storage.commits.counts.groups, 2); // no third: the retry knew the new version
  }, { intercept });
});

const unclear: Record<string, (run: () => Promise<CommitOutcome>) => Promise<CommitOutcome>> = {
  "{ok:false}": async (run) => {
    await run();
    return { ok: false };
  },
  "an error": async (run) => {
    await run();
    throw new TypeError("error sending request");
  },
  "a repetition's {ok:false}": async (run) => {
    await run();
    return await run();
  },
};
for (const [name, fault] of Object.entries(unclear)) {
  Deno.test(`GroupCommit knows its own commit behind ${name} by its attempt id`, async () => {
    const intercept: Intercept = (_, run) => fault(run);
    await withControlledCommits(async ({ kv, storage }) => {
      const committed: number[] = [];
      const job = letterJob(storage, "a", "b", "once");
      const id = await storage.commits.submit({
        ...job,
        findResult: () => Promise.reject(new Error("its own commit was not recognised")),
        committed: (given) => void committed.push(given),
      });
      assert.deepEqual(committed, [id]);
      assert.equal(await headOf(kv, "a"), id);
      const letters = await Array.fromAsync(kv.list({ prefix: ["letter", "a"] }));
      assert.equal(letters.length, 1);
      assert.equal(storage.commits.counts.groups, 1);
    }, { exclusive: false, intercept });
  });
}

Deno.test("GroupCommit does not take another's row under the proof key for its own success", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    await kv.set(onceKey("taken"), { attempt: "another", id: 77 });
    assert.equal(await storage.commits.submit(letterJob(storage, "a", "b", "taken")), 77);
    assert.equal(await headOf(kv, "a"), 0);
    assert.equal((await kv.get<{ id: number }>(onceKey("taken"))).value?.id, 77);
  });
});

Deno.test("GroupCommit finds before a retry that an unclear attempt was stored", async () => {
  const kv = await openMemoryKv();
  let readable = true;
  const fake = createFakeKv({
    kv,
    intercept: async (commit, run) => {
      const outcome = await run();
      if (!commit.writes.some(({ key }) => key[0] === "letter")) return outcome;
      readable = false; // the store is gone for a moment, right after it has written
      throw new TypeError("error sending request");
    },
  });
  const getMany = fake.getMany.bind(fake);
  fake.getMany = (async (keys: readonly Deno.KvKey[]) => {
    if (!readable) {
      readable = true;
      throw new TypeError("error sending request");
    }
    return await getMany(keys as Deno.KvKey[]);
  }) as typeof fake.getMany;
  const storage = await openTestStorage(fake, { exclusive: false });
  const committed: number[] = [];
  const job = letterJob(storage, "a", "b", "once");
  const id = await storage.commits.submit({
    ...job,
    findResult: () => Promise.resolve(undefined),
    committed: (given) => void committed.push(given),
  });
  assert.deepEqual(committed, [id]);
  assert.equal((await Array.fromAsync(kv.list({ prefix: ["letter", "a"] }))).length, 1);
  assert.equal(storage.commits.counts.groups, 1);
  await storage.close();
  kv.close();
});

Deno.test("GroupCommit retries a conflicting job apart from those that had no part in it", async () => {
  await withControlledCommits(async ({ kv, storage, commits }) => {
    await Promise.all(["a", "b", "c"].map((box) => storage.commits.submit(countJob(box))));
    await kv.set(mailboxKey("b"), { head: 10 });
    const from = commits.length;
    const counts = await Promise.all(
      ["a", "b", "c"].map((box) => storage.commits.submit(countJob(box))),
    );
    assert.deepEqual(counts, [2, 11, 2]);
    const tried = commits.slice(from).map((commit) => boxesOf(commit).sort().join());
    assert.deepEqual(tried.sort(), ["a,b,c", "a,c", "b"].sort());
  }, { exclusive: false });
});

Deno.test("GroupCommit fails only the job whose write the store refuses", async () => {
  const intercept: Intercept = (commit, run) =>
    boxesOf(commit).includes("poison") ? Promise.reject(new TypeError("value too large")) : run();
  await withControlledCommits(async ({ storage }) => {
    const results = await Promise.allSettled(
      ["a", "poison", "b"].map((box) => storage.commits.submit(countJob(box))),
    );
    assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
    assert.equal((results[1] as PromiseRejectedResult).reason.code, "unavailable");
  }, { intercept });
});

Deno.test("GroupCommit decides a refusal on a shared store again on what the store holds", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    await storage.commits.submit(countJob("a"));
    await kv.set(mailboxKey("a"), { head: 0 }); // another process made room
    assert.equal(await storage.commits.submit(countJob("a", 1)), 1);
    await assert.rejects(storage.commits.submit(countJob("a", 1)), { code: "banned" });
  }, { exclusive: false });
});

Deno.test("GroupCommit asks on a shared store whether a refused job was answered elsewhere", async () => {
  await withControlledCommits(async ({ storage }) => {
    await storage.commits.submit(countJob("a"));
    const answered = { ...countJob("a", 1), findResult: () => Promise.resolve(1234) };
    assert.equal(await storage.commits.submit(answered), 1234);
  }, { exclusive: false });
});

Deno.test("GroupCommit refuses from memory on an exclusive store, without a read", async () => {
  await withControlledCommits(async ({ storage }) => {
    await storage.commits.submit(countJob("a"));
    const job = {
      ...countJob("a", 1),
      findResult: () => Promise.reject(new Error("asked the store")),
    };
    await assert.rejects(storage.commits.submit(job), { code: "banned" });
  });
});

Deno.test("GroupCommit forgets on a shared store what a job found outdated", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    await storage.commits.submit(countJob("a"));
    await kv.set(mailboxKey("a"), { head: 5 });
    const job = countJob("a");
    const plan = (transaction: Transaction) => {
      if (transaction.record<TestMailbox>(mailboxKey("a"))?.head !== 5) throw new Outdated();
      return job.plan(transaction);
    };
    await assert.rejects(storage.commits.submit({ ...job, plan }), Outdated);
    assert.equal(await storage.commits.submit({ ...job, plan }), 6);
  }, { exclusive: false });
});

Deno.test("GroupCommit answers every caller of a group, whoever throws on hearing of it", async () => {
  const unheard: unknown[] = [];
  const told: unknown[] = [];
  await withControlledCommits(async ({ storage: { commits }, commits: made }) => {
    commits.listen("broken", () => {
      throw new Error("listener");
    });
    commits.listen("letters", (what) => told.push(what));
    const of = (name: string): Job<string> => ({
      plan(transaction) {
        transaction.set(["letter", name], 1);
        transaction.announce("broken", name);
        transaction.announce("letters", name);
        return name;
      },
      committed(result) {
        if (result === "a") throw new Error("committed()");
        told.push(`${result} committed`);
      },
    });
    const answers = await Promise.all(["a", "b", "c"].map((name) => commits.submit(of(name))));
    assert.deepEqual(answers, ["a", "b", "c"]);
    assert.equal(made.length, 1);
    assert.equal(await commits.submit(countJob("after")), 1);
  }, { onUnheard: (error) => unheard.push((error as Error).message) });
  assert.deepEqual(told, ["a", "b committed", "b", "c committed", "c"]);
  assert.deepEqual(unheard, ["committed()", "listener", "listener", "listener"]);
});
