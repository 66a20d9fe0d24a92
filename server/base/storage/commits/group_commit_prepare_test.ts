/** Plans that ask for what they need, and jobs that prepare what their plans rest on. */
import assert from "node:assert/strict";
import {
  boxesOf,
  countJob,
  withControlledCommits,
} from "../../../../tests/support/controlled_commits.ts";
import { letterKey, mailboxKey, type TestMailbox } from "../../../../tests/support/storage.ts";
import { RelayError } from "../../errors.ts";
import { Outdated, type Reads, type Transaction } from "./group_commit.ts";
import { QUEUE_BOUNDS } from "./job_queue.ts";

const headIn = (transaction: Transaction, box: string) =>
  transaction.record<TestMailbox>(mailboxKey(box))?.head ?? 0;

/** Adds the head of one box to another's. */
const addTo = (to: string, from: string) => (transaction: Transaction) => {
  const head = headIn(transaction, to) + headIn(transaction, from);
  transaction.putRecord<TestMailbox>(mailboxKey(to), { head });
  return head;
};

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a shared store";

  const checks = exclusive ? "checks none: memory is right" : "checks them all";
  Deno.test(`a plan on ${store} asks for records one after the other, and its commit ${checks}`, async () => {
    await withControlledCommits(async ({ kv, storage, commits }) => {
      for (const [box, head] of [["a", 1], ["b", 2]] as const) {
        await kv.set(mailboxKey(box), { head });
      }
      assert.equal(await storage.commits.submit(addTo("a", "b")), 3);
      const checked = commits[0]!.checks.map(({ key }) => key).filter(([name]) => name === "box");
      assert.deepEqual(checked, exclusive ? [] : [mailboxKey("a"), mailboxKey("b")]);
      if (exclusive) return;
      await kv.set(mailboxKey("b"), { head: 10 }); // another process
      assert.equal(await storage.commits.submit(addTo("a", "b")), 13);
    }, { exclusive });
  });

  Deno.test(`a plan on ${store} that swallows what the engine throws is planned again all the same`, async () => {
    await withControlledCommits(async ({ kv, storage }) => {
      await kv.set(mailboxKey("b"), { head: 2 });
      const swallows = (transaction: Transaction) => {
        try {
          return headIn(transaction, "b");
        } catch {
          return -1;
        }
      };
      assert.equal(await storage.commits.submit(swallows), 2);
    }, { exclusive });
  });

  Deno.test(`jobs on ${store} that ask for each other's records take their turns`, async () => {
    await withControlledCommits(async ({ storage }) => {
      const boxes = ["a", "b", "c", "d"];
      await Promise.all(boxes.map((box) => storage.commits.submit(countJob(box))));
      const pairs = boxes.flatMap((to) =>
        boxes.filter((from) => from !== to).map((from) => [to, from])
      );
      await Promise.all(
        Array.from({ length: 5 }, () => pairs).flat().map(([to, from]) =>
          storage.commits.submit((transaction) => {
            headIn(transaction, from!);
            transaction.putRecord<TestMailbox>(mailboxKey(to!), {
              head: headIn(transaction, to!) + 1,
            });
          })
        ),
      );
      const heads = await Promise.all(
        boxes.map((box) => storage.records.read<TestMailbox>(mailboxKey(box))),
      );
      assert.deepEqual(heads.map((box) => box!.head), [16, 16, 16, 16]);
    }, { exclusive });
  });

  Deno.test(`what prepare() has read on ${store} holds in the commit, or is prepared again`, async () => {
    await withControlledCommits(async ({ kv, storage }) => {
      await storage.commits.submit(countJob("a"));
      let prepared = 0;
      const total = await storage.commits.submit({
        async prepare(reads: Reads) {
          const box = await reads.get<TestMailbox>(mailboxKey("a"));
          if (++prepared < 3) {
            if (exclusive) await storage.commits.submit(countJob("a"));
            else await kv.set(mailboxKey("a"), { head: box!.head + 1 }); // another process
          }
          return box!.head;
        },
        plan(transaction, head) {
          assert.equal(headIn(transaction, "a"), head);
          transaction.putRecord<TestMailbox>(mailboxKey("b"), { head });
          return head;
        },
      });
      assert.deepEqual([total, prepared], [3, 3]);
    }, { exclusive });
  });

  Deno.test(`what prepare() has read first on ${store} is what must hold, where it reads it again`, async () => {
    await withControlledCommits(async ({ kv, storage }) => {
      await storage.commits.submit(countJob("a"));
      const key = mailboxKey("a");
      let prepared = 0;
      const total = await storage.commits.submit({
        async prepare(reads: Reads) {
          const box = await reads.get<TestMailbox>(key);
          if (++prepared === 1) {
            if (exclusive) await storage.commits.submit(countJob("a"));
            else await kv.set(key, { head: box!.head + 1 }); // another process
          }
          await reads.get(key);
          return box!.head;
        },
        plan(transaction, head) {
          transaction.putRecord<TestMailbox>(mailboxKey("b"), { head });
          return head;
        },
      });
      assert.deepEqual([total, prepared], [2, 2]);
    }, { exclusive });
  });
}

Deno.test("a job that an earlier one of its group has outdated is planned after it, and then prepared again", async () => {
  await withControlledCommits(async ({ storage, commits }) => {
    await storage.commits.submit(countJob("a"));
    let prepared = 0;
    const job = {
      async prepare(reads: Reads) {
        prepared++;
        return (await reads.get<TestMailbox>(mailboxKey("a")))!.head;
      },
      plan(transaction: Transaction, head: number) {
        transaction.putRecord<TestMailbox>(mailboxKey("a"), { head: head + 1 });
        return head + 1;
      },
    };
    const from = commits.length;
    assert.deepEqual(
      (await Promise.all([storage.commits.submit(job), storage.commits.submit(job)])).sort(),
      [2, 3],
    );
    assert.equal(prepared, 3);
    assert.deepEqual(commits.slice(from).map(boxesOf), [["a"], ["a"]]);
  });
});

Deno.test("prepare() is run again where a plan finds outdated what is no record, and not for ever", async () => {
  await withControlledCommits(async ({ storage }) => {
    let day = 1;
    const submitted = await storage.commits.submit({
      prepare: () => Promise.resolve(day),
      plan(transaction, prepared) {
        if (prepared !== 3) {
          day++;
          throw new Outdated();
        }
        transaction.set(letterKey("a", 1), prepared);
        return prepared;
      },
    });
    assert.equal(submitted, 3);
    const never = storage.commits.submit({
      prepare: () => Promise.resolve(null),
      plan() {
        throw new Outdated();
      },
    });
    await assert.rejects(never, { code: "unavailable" });
    await assert.rejects(
      storage.commits.submit(() => {
        throw new Outdated();
      }),
      Outdated,
      "a job that prepares nothing is told",
    );
  }, { bounds: { ...QUEUE_BOUNDS, giveUpAfterMs: 50 } });
});

Deno.test("an attempt that lands while its job is prepared again is the answer, and nothing is doubled", async () => {
  let loses = true;
  let late: (() => Promise<unknown>) | undefined;
  await withControlledCommits(async ({ storage, kv }) => {
    await storage.commits.submit(countJob("a"));
    let prepared = 0;
    let committed = 0;
    let looks = 0;
    const get = storage.store.get.bind(storage.store);
    Object.assign(storage.store, {
      async get(key: Deno.KvKey) {
        const row = await get(key);
        // It comes after its process has looked for it, before its retry is planned.
        if (key[0] === "attempt" && ++looks === 2) await late!();
        return row;
      },
    });
    const head = await storage.commits.submit({
      async prepare(reads: Reads) {
        prepared++;
        const box = await reads.get<TestMailbox>(mailboxKey("a"));
        return box!.head;
      },
      plan(transaction, head) {
        transaction.putRecord<TestMailbox>(mailboxKey("a"), { head: head + 1 });
        transaction.set(letterKey("a", prepared), head);
        return head + 1;
      },
      committed: () => void committed++,
    });
    assert.deepEqual([head, committed], [2, 1]);
    assert.equal((await Array.fromAsync(kv.list({ prefix: ["letter"] }))).length, 1);
    assert.ok(looks > 2);
  }, {
    exclusive: false,
    async intercept(commit, run) {
      if (loses && commit.writes.some(({ key }) => key[0] === "letter")) {
        loses = false;
        late = run;
        throw new TypeError("error sending request");
      }
      return await run();
    },
  });
});

Deno.test("a refusal on a shared store rests on nothing that memory alone has said", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    await storage.commits.submit(countJob("a"));
    await storage.commits.submit(countJob("b"));
    await kv.set(mailboxKey("a"), { head: 0 }); // another process made room in both
    await kv.set(mailboxKey("b"), { head: 0 });
    const both = (transaction: Transaction) => {
      for (const box of ["a", "b"]) { // the second is asked for once the first one lets it pass
        if (headIn(transaction, box) > 0) throw new RelayError("banned", "full");
        transaction.putRecord<TestMailbox>(mailboxKey(box), { head: 1 });
      }
    };
    await storage.commits.submit(both);
    await assert.rejects(storage.commits.submit(both), { code: "banned" });
  }, { exclusive: false });
});
