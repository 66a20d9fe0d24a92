import assert from "node:assert/strict";
import {
  boxesOf,
  countJob,
  headOf,
  type Intercept,
  withControlledCommits,
} from "../../../../tests/support/controlled_commits.ts";
import { RelayError } from "../../errors.ts";
import { letterJob, mailboxKey } from "../../../../tests/support/storage.ts";
import { type Job, type Transaction } from "./group_commit.ts";
import { journalKey, type JournalRow } from "../journal/journal_row.ts";
import { defineRecord } from "./record_key.ts";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY } from "../rows/store.ts";

Deno.test("GroupCommit commits a lone job at once, on no timer", async () => {
  await withControlledCommits(async ({ storage, commits }) => {
    await storage.commits.submit(countJob("a"));
    const second = storage.commits.submit(countJob("a"));
    assert.equal(commits.length, 1);
    await Promise.resolve(); // the microtask of the leader
    await Promise.resolve();
    assert.equal(commits.length, 2);
    assert.equal(await second, 2);
  });
});

Deno.test("GroupCommit combines jobs that wait while a commit is under way", async () => {
  await withControlledCommits(async ({ storage, commits }) => {
    const boxes = Array.from({ length: 20 }, (_, i) => `b${i}`);
    await Promise.all(boxes.map((box) => storage.commits.submit(countJob(box))));
    const before = commits.length;
    await Promise.all(boxes.map((box) => storage.commits.submit(countJob(box))));
    assert.equal(commits.length, before + 1);
    assert.equal(boxesOf(commits.at(-1)!).length, 20);
  });
});

Deno.test("GroupCommit lets a record of an uncommitted group enter no other group", async () => {
  const held = Promise.withResolvers<void>();
  const intercept: Intercept = async (commit, run) => {
    if (boxesOf(commit).includes("held")) await held.promise;
    return await run();
  };
  await withControlledCommits(async ({ storage, commits }) => {
    await storage.records.load(mailboxKey("held"));
    const first = storage.commits.submit(countJob("held"));
    await Promise.resolve(); // its group leaves
    const free = storage.commits.submit(countJob("held"));
    await storage.commits.submit(countJob("other"));
    assert.deepEqual(commits.map(boxesOf), [["held"], ["other"]]);
    held.resolve();
    assert.deepEqual(await Promise.all([first, free]), [1, 2]);
  }, { intercept });
});

Deno.test("GroupCommit keeps a record for as long as the last job that wrote it says", async () => {
  await withControlledCommits(async ({ storage, commits }) => {
    const put = (expireInMs?: number): Job<number> => ({
      ...countJob("kept"),
      plan(transaction) {
        transaction.putRecord(mailboxKey("kept"), { head: 1 }, expireInMs);
        return 1;
      },
    });
    await storage.records.load(mailboxKey("kept"));
    const orders = [
      { jobs: [put(1_000), put()], expireIn: undefined },
      { jobs: [put(), put(1_000)], expireIn: 1_000 },
    ];
    for (const { jobs, expireIn } of orders) {
      const beganMs = Date.now();
      await Promise.all(jobs.map((job) => storage.commits.submit(job)));
      const written = commits.at(-1)!.writes.filter(({ key }) => key[0] === "box");
      assert.equal(written.length, 1, "one commit for both");
      const left = written[0]!.expireIn;
      if (expireIn === undefined) assert.equal(left, undefined);
      else { // the journal says when it ends, by the system's clock, and some of it has passed
        assert.ok(left! <= expireIn && left! >= expireIn - (Date.now() - beganMs), `${left}`);
      }
    }
  });
});

Deno.test("GroupCommit keeps the order of jobs on one record", async () => {
  await withControlledCommits(async ({ storage }) => {
    const counts = await Promise.all(
      Array.from({ length: 200 }, () => storage.commits.submit(countJob("queue"))),
    );
    assert.deepEqual(counts, Array.from({ length: 200 }, (_, i) => i + 1));
  });
});

Deno.test("GroupCommit checks the version of every record, on a shared store", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    await storage.commits.submit(countJob("a"));
    await kv.set(mailboxKey("a"), { head: 40 }); // a ban, say, that memory knows nothing of
    assert.equal(await storage.commits.submit(countJob("a")), 41);
    assert.equal(await headOf(kv, "a"), 41);
    assert.equal(storage.commits.counts.conflicts, 1);
  }, { exclusive: false });
});

Deno.test("GroupCommit keeps every commit within the ten checks of KV Connect", async () => {
  await withControlledCommits(async ({ storage, commits }) => {
    const sends = Array.from({ length: 30 }, (_, i) => i);
    await Promise.all(
      sends.map((i) => storage.commits.submit(letterJob(storage, `s${i}`, `r${i}`, `q${i}`))),
    );
    const checks = commits.map((commit) => commit.checks.length);
    assert.ok(Math.max(...checks) <= 10, `${checks}`);
    // Two mailboxes and a signature each, and the slot's owner once.
    assert.ok(checks.includes(10), `${checks}`);
  }, { exclusive: false, capacity: { ...KV_CONNECT_CAPACITY, groupsInFlight: 1 } });
});

Deno.test("GroupCommit refuses a job that no commit on the store can hold", async () => {
  await withControlledCommits(async ({ storage }) => {
    const readsBoxes = (boxes: number) => (transaction: Transaction) => {
      for (let i = 1; i < boxes; i++) transaction.record(mailboxKey(`b${i}`));
      return countJob("b0").plan(transaction);
    };
    await assert.rejects(storage.commits.submit(readsBoxes(10)), RangeError);
    assert.equal(await storage.commits.submit(readsBoxes(9)), 1);
  }, { exclusive: false, capacity: KV_CONNECT_CAPACITY });
});

Deno.test("GroupCommit adds once what a repeated commit would add twice", async () => {
  await withControlledCommits(async ({ storage }) => {
    await storage.commits.submit((transaction) => transaction.sum(["total"], 1n));
    await storage.commits.submit((transaction) => {
      transaction.putRecord(mailboxKey("absent"), null); // stays as it is
      transaction.sum(["total"], 1n);
    });
    assert.deepEqual((await storage.store.get(["total"])).value, new Deno.KvU64(2n));
  }, {
    exclusive: false,
    async intercept(_commit, run) {
      await run();
      return await run();
    },
  });
});

Deno.test("GroupCommit refuses a row that would overwrite a cached record unchecked", async () => {
  await withControlledCommits(async ({ storage }) => {
    await storage.commits.submit(countJob("a"));
    const job = countJob("b");
    const plan = (transaction: Transaction) => {
      transaction.set(mailboxKey("a"), { head: 0 });
      return job.plan(transaction);
    };
    await assert.rejects(storage.commits.submit({ ...job, plan }), TypeError);
  });
});

Deno.test("GroupCommit drops an absent record from memory when a row has created it", async () => {
  await withControlledCommits(async ({ storage }) => {
    assert.equal((await storage.records.load(mailboxKey("new"))).value, null);
    const job = countJob("b");
    await storage.commits.submit({
      ...job,
      sizeBytes: 100,
      plan(transaction) {
        transaction.set(mailboxKey("new"), { head: 3 });
        return job.plan(transaction);
      },
    });
    assert.equal(await storage.commits.submit(countJob("new")), 4);
    assert.equal(storage.commits.counts.conflicts, 0);
  });
});

Deno.test("GroupCommit writes annotations in the commit of the jobs they tell of", async () => {
  await withControlledCommits(async ({ storage, commits }) => {
    storage.commits.annotateGroups({
      sizeOf: () => ({ mutations: 1, bytes: 100 }),
      annotate: (results, transaction) => transaction.set(["told"], results),
    });
    await Promise.all(["a", "b"].map((box) => storage.records.load(mailboxKey(box))));
    await Promise.all(["a", "b"].map((box) => storage.commits.submit(countJob(box))));
    const told = commits.at(-1)!.writes.find(({ key }) => key[0] === "told");
    assert.deepEqual(told?.value, [1, 1]);
  });
});

Deno.test("GroupCommit gives an annotation the kinds of results that it is for, and calls it for no others", async () => {
  await withControlledCommits(async ({ storage }) => {
    const given: unknown[] = [];
    storage.commits.annotateGroups<{ kind: string; n: number }>({
      kinds: ["sent", "swept"],
      sizeOf: ({ n }) => ({ mutations: 0, bytes: n }),
      annotate: (results) => void given.push(results.map(({ n }) => n)),
    });
    const submit = (result: unknown) => storage.commits.submit(() => result);
    await Promise.all([{ kind: "read", n: 1 }, null, undefined, true, "sent"].map(submit));
    assert.deepEqual(given, []);
    const [sent, swept] = [{ kind: "sent", n: 2 }, { kind: "swept", n: 3 }];
    await Promise.all([sent, null, { use: "sent" }, swept].map(submit));
    assert.deepEqual(given, [[2, 3]]);
  });
});

Deno.test("GroupCommit commits nothing of jobs whose annotation fails", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    let broken = true;
    storage.commits.annotateGroups({
      sizeOf: () => ({ mutations: 1, bytes: 100 }),
      annotate() {
        if (broken) throw new Error("no figures today");
      },
    });
    await assert.rejects(storage.commits.submit(countJob("a")), /no figures/);
    assert.equal(await headOf(kv, "a"), 0);
    broken = false;
    assert.equal(await storage.commits.submit(countJob("a")), 1);
  });
});

const deepKey = defineRecord<number, [box: string, name: string]>(["deep"], 2);

Deno.test("GroupCommit shows a job a record of three parts that another job made as a row", async () => {
  await withControlledCommits(async ({ storage }) => {
    const needs: Job<number> = {
      records: [deepKey("a", "b")],
      sizeBytes: 100,
      plan(transaction) {
        const value = transaction.record(deepKey("a", "b"));
        if (value === null) throw new RelayError("not_found", "nothing is there");
        return value;
      },
    };
    const makes: Job<number> = {
      ...countJob("maker"),
      plan(transaction) {
        transaction.putRecord(mailboxKey("maker"), { head: 1, attempt: transaction.attempt });
        transaction.set(deepKey("a", "b"), 7);
        return 1;
      },
    };
    await assert.rejects(storage.commits.submit(needs), /nothing is there/);
    await storage.commits.submit(makes);
    assert.equal(await storage.commits.submit(needs), 7);
  });
});

Deno.test("GroupCommit refuses a job on a key that no record was declared with", async () => {
  await withControlledCommits(async ({ storage }) => {
    const asks = (transaction: Transaction) => transaction.record(["undeclared", 1]);
    await assert.rejects(storage.commits.submit(asks), /undeclared\/1 is no declared record/);
  });
});

Deno.test("GroupCommit leaves a job to the next group when its keys have no room left", async () => {
  const capacity = { ...EMBEDDED_CAPACITY, keyBytes: 3_000 };
  await withControlledCommits(async ({ storage, commits }) => {
    const writes = (box: string, keys: number): Job<number> => ({
      ...countJob(box),
      plan(transaction) {
        transaction.putRecord(mailboxKey(box), { head: 1, attempt: transaction.attempt });
        for (let n = 0; n < keys; n++) transaction.set(["row", box, "x".repeat(300), n], 1);
        return 1;
      },
    });
    await Promise.all(["a", "b"].map((box) => storage.records.load(mailboxKey(box))));
    await Promise.all(["a", "b"].map((box) => storage.commits.submit(writes(box, 2))));
    assert.deepEqual(commits.map(boxesOf), [["a"], ["b"]]);
    await assert.rejects(storage.commits.submit(writes("c", 4)), RangeError);
  }, { capacity });
});

Deno.test("of two jobs that require one row absent, the second one finds what the first has written", async () => {
  await withControlledCommits(async ({ storage, kv }) => {
    await storage.commits.submit(countJob("a"));
    const send = () => storage.commits.submit(letterJob(storage, "a", "b", "once"));
    const [one, other] = await Promise.all([send(), send()]);
    assert.equal(one, other);
    assert.deepEqual(await usedUp(kv), [], "repetitions leave nothing in the journal");
    assert.equal((await Array.fromAsync(kv.list({ prefix: ["letter"] }))).length, 2);
  });
});

/** Numbers of the journal that stay used up until the process ends. */
async function usedUp(kv: Deno.Kv): Promise<unknown[]> {
  const rows = await Array.fromAsync(kv.list<JournalRow>({ prefix: journalKey.under() }));
  return rows.filter(({ value }) => value.by === null).map(({ key }) => key[1]);
}
