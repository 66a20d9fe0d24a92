import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createTestClock } from "../../../../tests/support/clock.ts";
import { createFakeKv } from "../../../../tests/support/fake_kv.ts";
import { letterJob, openTestStorage } from "../../../../tests/support/storage.ts";
import type { Job } from "./job.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive" : "a shared";
  Deno.test(`GroupCommit plans no job while the clock is unsure but those that do not mind, on ${store} store`, async () => {
    using kv = await openMemoryKv();
    const storage = await openTestStorage(kv, { exclusive });
    const { clock, commits } = storage;
    const planned: number[] = [];
    const job = (request: string, more: Partial<Job<number>> = {}): Job<number> => {
      const letter = letterJob(storage, "ann", "bob", request);
      return {
        ...letter,
        plan(transaction) {
          planned.push(transaction.nowMs);
          return letter.plan(transaction);
        },
        ...more,
      };
    };
    const rightMs = clock.now();
    await commits.submit(job("before"));
    const waiting = commits.submit(job("asked before the leap, planned after it"));
    clock.leap(9 * HOUR_MS);
    await assert.rejects(waiting, { code: "unavailable", retryAfterMs: MINUTE_MS });
    const outcome = job("outcome", { whateverTheClock: true });
    const refused = commits.submit(job("refused"));
    const [{ status }, id] = [
      (await Promise.allSettled([refused]))[0]!,
      await commits.submit(outcome),
    ];
    assert.equal(status, "rejected");
    assert.ok(id > 0);
    assert.deepEqual(planned, [rightMs, rightMs], "by the time before the leap");
    clock.advance(MINUTE_MS);
    await commits.submit(job("after"));
    assert.equal(planned.at(-1), rightMs + 9 * HOUR_MS + MINUTE_MS);
    await storage.close();
  });
}

Deno.test("GroupCommit calls a job unclear, not refused, whose retry the clock keeps from being planned", async () => {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  let isBroken = false;
  const fake = createFakeKv({
    kv,
    intercept: async (commit, run) => {
      if (!isBroken || commit.writes.every(({ key }) => key[0] !== "letter")) return await run();
      clock.leap(9 * HOUR_MS);
      isBroken = false;
      throw new TypeError("error sending request");
    },
  });
  const storage = await openTestStorage(fake, { clock, exclusive: false });
  await storage.commits.submit(letterJob(storage, "ann", "bob", "first"));
  isBroken = true;
  const submitted = storage.commits.submit(letterJob(storage, "ann", "bob", "second"));
  await assert.rejects(submitted, { code: "unavailable", message: /it is stored at most once/ });
  clock.advance(MINUTE_MS);
  await storage.commits.submit(letterJob(storage, "ann", "bob", "second"));
  await storage.close();
});
