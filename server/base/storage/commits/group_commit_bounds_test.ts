/** What waits in a group commit is bounded: retries, jobs, bytes and time. */
import assert from "node:assert/strict";
import {
  countJob,
  type Intercept,
  withControlledCommits,
} from "../../../../tests/support/controlled_commits.ts";
import { letterJob, mailboxKey } from "../../../../tests/support/storage.ts";
import { RelayError } from "../../errors.ts";
import { QUEUE_BOUNDS } from "./job_queue.ts";

Deno.test("GroupCommit bounds retries and then tells the caller to come back", async () => {
  const intercept: Intercept = () => Promise.resolve({ ok: false });
  await withControlledCommits(async ({ storage, commits }) => {
    const error = await storage.commits.submit(countJob("a")).catch((failure) => failure);
    assert.ok(error instanceof RelayError);
    assert.equal(error.code, "unavailable");
    assert.ok(error.retryAfterMs! >= 1);
    assert.ok(commits.length > 4 && commits.length <= 20, `${commits.length} attempts`);
  }, { intercept, bounds: { ...QUEUE_BOUNDS, retryForMs: 0 } });
});

Deno.test("GroupCommit tries again for its time, however many conflicts it meets", async () => {
  let commits = 0;
  const intercept: Intercept = (_, run) => ++commits <= 24 ? Promise.resolve({ ok: false }) : run();
  await withControlledCommits(async ({ storage }) => {
    assert.equal(await storage.commits.submit(countJob("a")), 1);
    assert.equal(commits, 25);
  }, { intercept, bounds: { ...QUEUE_BOUNDS, retryForMs: 60_000, giveUpAfterMs: 60_000 } });
});

Deno.test("GroupCommit gives up on a store that throws four times in a row, however it answered before", async () => {
  const throws = [7, 8, 12, 13, 14, 20, 21, 22, 23];
  let commits = 0;
  const intercept: Intercept = async (_, run) => {
    commits++;
    if (throws.includes(commits)) throw new TypeError("error sending request");
    return commits < 20 ? { ok: false } : await run();
  };
  await withControlledCommits(async ({ storage }) => {
    await assert.rejects(storage.commits.submit(countJob("a")), { code: "unavailable" });
    assert.equal(commits, 23);
    assert.equal(await storage.commits.submit(countJob("a")), 1);
  }, { intercept, bounds: { ...QUEUE_BOUNDS, retryForMs: 60_000, giveUpAfterMs: 60_000 } });
});

Deno.test("GroupCommit answers 503 at once when too many jobs or bytes wait", async () => {
  const held = Promise.withResolvers<void>();
  const intercept: Intercept = async (_, run) => {
    await held.promise;
    return await run();
  };
  const bounds = {
    jobs: 3,
    bytes: 1000,
    refuseAfterMs: 60_000,
    retryForMs: 60_000,
    giveUpAfterMs: 60_000,
    checkEveryMs: 60_000,
  };
  await withControlledCommits(async ({ storage }) => {
    const taken = ["a", "b", "c"].map((box) => storage.commits.submit(countJob(box)));
    await assert.rejects(storage.commits.submit(countJob("d")), { code: "unavailable" });
    assert.equal(storage.commits.pending, 3);
    held.resolve();
    assert.deepEqual(await Promise.all(taken), [1, 1, 1]);
    const large = { ...countJob("e"), sizeBytes: 950 };
    const results = await Promise.allSettled([
      storage.commits.submit(large),
      storage.commits.submit(countJob("f")),
    ]);
    assert.deepEqual(results.map(({ status }) => status), ["fulfilled", "rejected"]);
    assert.equal(await storage.commits.submit(countJob("f")), 1);
  }, { intercept, bounds });
});

Deno.test("GroupCommit answers 503 for a store that hangs, and a late commit stays harmless", async () => {
  const held = Promise.withResolvers<void>();
  const intercept: Intercept = async (_, run) => {
    await held.promise;
    return await run();
  };
  const bounds = {
    ...QUEUE_BOUNDS,
    refuseAfterMs: 500,
    giveUpAfterMs: 1_000, // what comes after it must not take as long on a busy machine
    checkEveryMs: 10,
  };
  await withControlledCommits(async ({ kv, storage }) => {
    const committed: number[] = [];
    await Promise.all(["a", "b", "c"].map((box) => storage.records.load(mailboxKey(box))));
    const job = letterJob(storage, "a", "b", "late");
    const late = storage.commits.submit({
      ...job,
      committed: (id) => void committed.push(id),
    });
    await Promise.resolve(); // its group leaves
    const waiting = storage.commits.submit(letterJob(storage, "a", "c", "never"));
    await assert.rejects(late, { code: "unavailable" });
    await assert.rejects(waiting, { code: "unavailable" });
    held.resolve();
    await storage.commits.drained();
    assert.equal(committed.length, 1);
    assert.equal(await storage.commits.submit(letterJob(storage, "a", "b", "late")), committed[0]);
    assert.equal((await Array.fromAsync(kv.list({ prefix: ["letter", "a"] }))).length, 1);
  }, { intercept, bounds });
});
