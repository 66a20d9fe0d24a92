/** That no job waits for ever, whatever others do with the records it asks for. */
import assert from "node:assert/strict";
import {
  boxesOf,
  countJob,
  withControlledCommits,
} from "../../../../tests/support/controlled_commits.ts";
import { delay } from "../../../../tests/support/pace.ts";
import { until } from "../../../../tests/support/journal.ts";
import { mailboxKey, type TestMailbox } from "../../../../tests/support/storage.ts";
import type { Reads, Transaction } from "./group_commit.ts";
import { QUEUE_BOUNDS } from "./job_queue.ts";
import { recordName } from "./record_cache.ts";

const headIn = (transaction: Transaction, box: string) =>
  transaction.record<TestMailbox>(mailboxKey(box))?.head ?? 0;

Deno.test("a job of two records that others hold one after the other gets both in the end", async () => {
  const underWay: { box: string; end: () => void }[] = [];
  let isHeld = false;
  await withControlledCommits(async ({ storage }) => {
    await Promise.all(["a", "b"].map((box) => storage.commits.submit(countJob(box))));
    isHeld = true;
    const others: Promise<unknown>[] = [];
    const add = async (box: string) => {
      others.push(storage.commits.submit(countJob(box)));
      await delay(1);
    };
    await add("a");
    await add("b");
    let isStored = false;
    const both = storage.commits.submit((transaction) => {
      const head = headIn(transaction, "a") + headIn(transaction, "b");
      transaction.putRecord<TestMailbox>(mailboxKey("a"), { head });
    }).then(() => isStored = true);
    let commits = 0;
    for (; !isStored && commits < 50; commits++) {
      await until(() => underWay.length > 0);
      const { box, end } = underWay.shift()!;
      end();
      await delay(1);
      await add(box); // always another one that wants the record which is free now
    }
    assert.ok(isStored, "others overtake it for ever");
    isHeld = false;
    for (const { end } of underWay) end();
    await Promise.all([...others, both]);
  }, {
    async intercept(commit, run) {
      if (isHeld) {
        await new Promise<void>((end) => underWay.push({ box: boxesOf(commit)[0]!, end }));
      }
      return await run();
    },
  });
});

Deno.test("jobs on a shared store that prepare on one record do not keep each other from reading it", async () => {
  await withControlledCommits(async ({ storage }) => {
    await storage.commits.submit(countJob("a"));
    const get = storage.store.get.bind(storage.store);
    const reads: (() => void)[] = [];
    Object.assign(storage.store, {
      async get(key: Deno.KvKey) {
        await new Promise<void>((answer) => reads.push(answer));
        return await get(key);
      },
    });
    let answered = 0;
    const submit = () =>
      storage.commits.submit({
        prepare: (reads: Reads) => reads.get<TestMailbox>(mailboxKey("a")),
        plan: () => {},
      }).then(() => void answered++);
    const jobs = [submit(), submit()];
    for (let i = 0; i < 50; i++) { // whenever a read ends, another one has begun
      jobs.push(submit());
      await until(() => reads.length > 1);
      reads.shift()!();
      await delay(0);
    }
    assert.ok(answered > 40, `${answered}`);
    Object.assign(storage.store, { get });
    for (const answer of reads) answer();
    await Promise.all(jobs);
  }, { exclusive: false });
});

Deno.test("readers of a record that is not there do not keep a job from making it", async () => {
  await withControlledCommits(async ({ storage }) => {
    let isRead = true;
    const readers = Array.from({ length: 5 }, async () => {
      while (isRead) {
        await storage.records.read(mailboxKey("a"));
        // A read of memory lets nothing else run.
        if (storage.records.peek(recordName(mailboxKey("a"))) !== undefined) await delay(0);
      }
    });
    const made = storage.commits.submit(countJob("a"));
    assert.equal(await made.finally(() => isRead = false), 1);
    await Promise.all(readers);
  }, { bounds: { ...QUEUE_BOUNDS, giveUpAfterMs: 1_000 } });
});
