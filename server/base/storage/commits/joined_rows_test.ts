import assert from "node:assert/strict";
import { withControlledCommits } from "../../../../tests/support/controlled_commits.ts";
import { mailboxKey } from "../../../../tests/support/storage.ts";
import type { Attempt, Job } from "./group_commit.ts";

const rowKey = ({ attempt }: Pick<Attempt, "attempt">): Deno.KvKey => ["joined", attempt];

/** A job that adds bytes to the row of its group. */
function joinJob(box: string, bytes: Uint8Array, refuses = false): Job<string> {
  return {
    records: [mailboxKey(box)],
    sizeBytes: bytes.length,
    plan(transaction) {
      transaction.append(rowKey(transaction), bytes);
      transaction.putRecord(mailboxKey(box), { head: 1 });
      if (refuses) throw new RangeError("refused");
      return transaction.attempt;
    },
  };
}

const part = (value: number, sizeBytes = 4) => new Uint8Array(sizeBytes).fill(value);

Deno.test("jobs of one group write one row together, in their order", async () => {
  await withControlledCommits(async ({ storage, commits }) => {
    const boxes = Array.from({ length: 10 }, (_, i) => `b${i}`);
    await Promise.all(boxes.map((box) => storage.records.load(mailboxKey(box))));
    const attempts = await Promise.all(
      boxes.map((box, i) => storage.commits.submit(joinJob(box, part(i)))),
    );
    assert.equal(new Set(attempts).size, 1);
    const rows = commits.at(-1)!.writes.filter(({ key }) => key[0] === "joined");
    assert.equal(rows.length, 1);
    const stored = await storage.store.get<Uint8Array>(["joined", attempts[0]!]);
    assert.deepEqual([...stored.value!], boxes.flatMap((_, i) => [i, i, i, i]));
  });
});

Deno.test("a job that refuses leaves nothing in the row of its group", async () => {
  await withControlledCommits(async ({ storage }) => {
    const boxes = ["a", "b", "c"];
    await Promise.all(boxes.map((box) => storage.records.load(mailboxKey(box))));
    const [first, second, third] = await Promise.allSettled(
      boxes.map((box, i) => storage.commits.submit(joinJob(box, part(i), i === 1))),
    );
    assert.equal(second!.status, "rejected");
    assert.ok(first!.status === "fulfilled" && third!.status === "fulfilled");
    const stored = await storage.store.get<Uint8Array>(["joined", first!.value]);
    assert.deepEqual([...stored.value!], [0, 0, 0, 0, 2, 2, 2, 2]);
  });
});

Deno.test("a row that is full lets the next job travel in the next group", async () => {
  await withControlledCommits(async ({ storage }) => {
    const boxes = ["a", "b", "c", "d"];
    await Promise.all(boxes.map((box) => storage.records.load(mailboxKey(box))));
    const attempts = await Promise.all(
      boxes.map((box, i) => storage.commits.submit(joinJob(box, part(i, 30_000)))),
    );
    assert.equal(new Set(attempts).size, 2);
    const sizes = await Promise.all(
      [...new Set(attempts)].map(async (attempt) =>
        (await storage.store.get<Uint8Array>(["joined", attempt])).value!.length
      ),
    );
    assert.deepEqual(sizes, [60_000, 60_000]);
  });
});

Deno.test("a commit whose answer was lost is known by its number", async () => {
  let loses = true;
  await withControlledCommits(async ({ storage, commits }) => {
    await storage.records.load(mailboxKey("a"));
    const attempt = await storage.commits.submit(joinJob("a", part(1)));
    assert.equal(commits.length, 1);
    assert.notEqual((await storage.store.get(["joined", attempt])).versionstamp, null);
  }, {
    async intercept(_commit, run) {
      const outcome = await run();
      if (!loses) return outcome;
      loses = false;
      throw new TypeError("error sending request");
    },
  });
});
