/** What decisions on a shared store rest on, where attempts come late and memory is outdated. */
import assert from "node:assert/strict";
import {
  countJob,
  type Intercept,
  withControlledCommits,
} from "../../../../tests/support/controlled_commits.ts";
import type { CommitOutcome } from "../../../../tests/support/fake_kv.ts";
import {
  letterKey,
  mailboxKey,
  type TestMailbox,
  type TestStorage,
} from "../../../../tests/support/storage.ts";
import { RelayError } from "../../errors.ts";
import { type Job, Outdated, type Reads, type Transaction } from "./group_commit.ts";
import { QUEUE_BOUNDS } from "./job_queue.ts";

const headIn = (transaction: Transaction, box: string) =>
  transaction.record<TestMailbox>(mailboxKey(box))?.head ?? 0;
const full = () => new RelayError("banned", "full");
const isLetter = ({ writes }: Parameters<Intercept>[0]) =>
  writes.some(({ key }) => key[0] === "letter");

function fill(transaction: Transaction): string {
  transaction.putRecord<TestMailbox>(mailboxKey("a"), { head: 2 });
  transaction.set(letterKey("a", 2), transaction.attempt);
  transaction.announce("letters", transaction.attempt);
  return transaction.attempt;
}

/** The first commit of a letter is called failed, and comes once its process has looked for it so often. */
async function withLateLetter(
  looks: number,
  body: (storage: TestStorage) => Promise<void>,
): Promise<void> {
  let late: (() => Promise<CommitOutcome>) | undefined;
  await withControlledCommits(async ({ storage, kv }) => {
    await storage.commits.submit(countJob("a"));
    const get = storage.store.get.bind(storage.store);
    Object.assign(storage.store, {
      async get(key: Deno.KvKey) {
        const row = await get(key);
        if (key[0] === "attempt" && --looks === 0) {
          await late!();
          storage.records.refresh(mailboxKey("a")); // as others do before they read it
        }
        return row;
      },
    });
    await body(storage);
    assert.ok(looks <= 0);
    assert.equal((await Array.fromAsync(kv.list({ prefix: ["letter"] }))).length, 1);
  }, {
    exclusive: false,
    async intercept(commit, run) {
      if (late !== undefined || !isLetter(commit)) return await run();
      late = run;
      throw new TypeError("error sending request");
    },
  });
}

/** Jobs that are refused once one of their attempts is stored, each by another of their functions. */
const LATE: Record<string, () => Job<string, number>> = {
  "prepare()": () => {
    let plans = 0;
    return {
      async prepare(reads: Reads) {
        const { head } = (await reads.get<TestMailbox>(mailboxKey("a")))!;
        if (head > 1) throw full();
        return head;
      },
      plan(transaction) {
        if (++plans === 2) throw new Outdated();
        return fill(transaction);
      },
    };
  },
  "plan()": () => ({
    plan(transaction) {
      if (headIn(transaction, "a") > 1) throw full();
      return fill(transaction);
    },
  }),
};

for (const [name, job] of Object.entries(LATE)) {
  for (const looks of [1, 2]) {
    Deno.test(`an attempt for which ${name} refuses its own job is the answer, and announced, where it came after ${looks} looks`, async () => {
      await withLateLetter(looks, async (storage) => {
        const told: unknown[] = [];
        storage.commits.listen("letters", (attempt) => told.push(attempt));
        const attempt = await storage.commits.submit(job());
        assert.equal((await storage.store.get(letterKey("a", 2))).value, attempt);
        assert.deepEqual(told, [attempt]);
      });
    });
  }
}

Deno.test("GroupCommit.listen() hears of what is committed, and not of what was planned in vain", async () => {
  await withControlledCommits(async ({ storage: { commits } }) => {
    const told: unknown[] = [];
    commits.listen("letters", (what) => told.push(what));
    commits.listen("others", () => assert.fail());
    const refused = commits.submit((transaction) => {
      transaction.announce("letters", "refused");
      throw full();
    });
    await assert.rejects(refused, { code: "banned" });
    let plans = 0;
    const again = commits.submit((transaction) => {
      transaction.announce("letters", ++plans);
      transaction.announce("nobody's", plans);
      transaction.set(letterKey("a", plans), 1);
    }).then(() => assert.deepEqual(told, [2], "before the caller has its answer"));
    assert.deepEqual(told, []);
    await again;
  }, {
    exclusive: false,
    async intercept(commit, run) {
      // The first attempt is lost.
      if (commit.writes.some(({ key }) => key[0] === "letter" && key[2] === 1)) {
        return { ok: false };
      }
      return await run();
    },
  });
});

Deno.test("a job reads nothing that an attempt of its own has changed, and takes it for another's", async () => {
  await withLateLetter(2, async (storage) => {
    const stored = await storage.commits.submit((transaction) => {
      const head = headIn(transaction, "a") + 1;
      transaction.putRecord<TestMailbox>(mailboxKey("a"), { head });
      transaction.set(letterKey("a", head), transaction.attempt);
      return head;
    });
    assert.equal(stored, 2);
  });
});

Deno.test("an attempt for which findResult() refuses its own job is the answer", async () => {
  await withLateLetter(2, async (storage) => {
    const attempt = await storage.commits.submit<string>({
      async findResult() {
        const { value } = await storage.store.get<TestMailbox>(mailboxKey("a"));
        if (value!.head > 1) throw full();
        return undefined;
      },
      plan: fill,
    });
    assert.equal((await storage.store.get(letterKey("a", 2))).value, attempt);
  });
});

Deno.test("a job that cannot be admitted again with an attempt left unclear is called unclear", async () => {
  const held = Promise.withResolvers<void>();
  let loses = true;
  await withControlledCommits(async ({ storage }) => {
    await storage.commits.submit(countJob("a"));
    let plans = 0;
    const unclear = storage.commits.submit({
      async prepare() {
        if (plans === 0) return;
        // Meanwhile the queue fills up.
        void storage.commits.submit(countJob("b"));
        await Promise.resolve();
      },
      plan(transaction) {
        if (++plans === 2) throw new Outdated();
        transaction.putRecord<TestMailbox>(mailboxKey("a"), { head: 1 });
        transaction.set(letterKey("a", 1), 1);
      },
    });
    await assert.rejects(unclear, (error: RelayError) => {
      assert.equal(error.code, "unavailable");
      assert.doesNotMatch(error.message, /nothing was stored/);
      return true;
    });
    held.resolve();
  }, {
    exclusive: false,
    bounds: { ...QUEUE_BOUNDS, jobs: 1 },
    async intercept(commit, run) {
      if (loses && isLetter(commit)) {
        loses = false;
        throw new TypeError("error sending request");
      }
      if (commit.writes.some(({ key }) => key[1] === "b")) await held.promise;
      return await run();
    },
  });
});

Deno.test("a refusal after a conflict rests on no record that only memory has, and that the commit did not hold", async () => {
  let store: Deno.Kv;
  let isFirst = true;
  await withControlledCommits(async ({ storage, kv }) => {
    store = kv;
    await storage.commits.submit(countJob("b"));
    await kv.set(mailboxKey("b"), { head: 0 }); // another process has made room
    await storage.commits.submit({
      records: [mailboxKey("b")],
      plan(transaction: Transaction) {
        if (headIn(transaction, "a") === 7 && headIn(transaction, "b") > 0) throw full();
        fill(transaction);
      },
    });
  }, {
    exclusive: false,
    async intercept(commit, run) {
      if (isFirst && isLetter(commit)) {
        isFirst = false;
        await store.set(mailboxKey("a"), { head: 7 });
      }
      return await run();
    },
  });
});

Deno.test("a prepared job that refuses after a conflict is told its own refusal, whatever that is", async () => {
  class Lost extends Error {}
  await withControlledCommits(async ({ storage, kv }) => {
    await storage.commits.submit(countJob("a"));
    await kv.set(mailboxKey("a"), { head: 7 }); // another process
    const refused = storage.commits.submit({
      prepare: () => Promise.resolve(null),
      plan(transaction) {
        if (headIn(transaction, "a") !== 1) throw new Lost();
        transaction.putRecord<TestMailbox>(mailboxKey("a"), { head: 2 });
      },
    });
    await assert.rejects(refused, Lost);
  }, { exclusive: false });
});
