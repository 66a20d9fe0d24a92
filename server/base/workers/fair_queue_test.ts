import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import { FairQueue, type QueuedJob } from "./fair_queue.ts";

const bounds = { jobs: 4, bytes: 100, ownerJobs: 3, ownerBytes: 60 };
const queueOf = () => new FairQueue<QueuedJob>(bounds);
const job = (owner: string, sizeBytes = 1): QueuedJob => ({ owner, sizeBytes });

function ownersOf(queue: FairQueue<QueuedJob>): string {
  const owners: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) owners.push(next.owner);
  return owners.join("");
}

Deno.test("FairQueue gives each owner a turn, whoever came first with however many", () => {
  const queue = new FairQueue<QueuedJob>({ ...bounds, jobs: 20, ownerJobs: 20 });
  for (const owner of "aaaabbc") assert.ok(queue.add(job(owner)));
  const first = queue.take()!;
  assert.ok(queue.add(job("d")));
  assert.equal(first.owner + ownersOf(queue), "abcdabaa");
  assert.ok(queue.isEmpty);
});

Deno.test("FairQueue lets nobody have three turns while another owner waits", () => {
  let turns = 0;
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("take", "take", "a", "b", "c", "d"), {
        minLength: 20,
        maxLength: 60,
      }),
      (steps) => {
        const queue = new FairQueue<QueuedJob>({
          jobs: 100,
          bytes: 100,
          ownerJobs: 100,
          ownerBytes: 100,
        });
        /** By owner who waits: who had turns since it did. */
        const since = new Map<string, string[]>();
        const waiting = { a: 0, b: 0, c: 0, d: 0 } as Record<string, number>;
        for (const step of steps) {
          if (step !== "take") {
            queue.add(job(step));
            if (waiting[step]!++ === 0) since.set(step, []);
            continue;
          }
          const taken = queue.take();
          if (taken === undefined) continue;
          turns++;
          for (const [owner, others] of since) {
            others.push(taken.owner);
            const most = others.filter((one) => one === taken.owner && one !== owner).length;
            assert.ok(most <= 2, `${steps}`);
          }
          since.delete(taken.owner);
          if (--waiting[taken.owner]! > 0) since.set(taken.owner, []);
        }
      },
    ),
    { numRuns: 2_000 },
  );
  assert.ok(turns > 5_000);
});

Deno.test("FairQueue bounds an owner's jobs and bytes, under way ones too", () => {
  const queue = queueOf();
  const jobs = [job("a"), job("a"), job("a")];
  for (const one of jobs) assert.ok(queue.add(one));
  assert.ok(!queue.add(job("a")));
  assert.ok(queue.add(job("b", 50)));
  queue.take();
  assert.ok(!queue.add(job("a")), "it is under way");
  queue.giveBack(jobs[0]!);
  assert.ok(queue.add(job("a")));
  assert.ok(!queue.add(job("b", 11)));
});

Deno.test("FairQueue takes one large job, and those of newcomers up to twice its bounds", () => {
  const queue = queueOf();
  const large = job("a", 1_000);
  assert.ok(queue.add(large), "alone it may be larger");
  assert.ok(!queue.add(job("b")));
  queue.take();
  queue.giveBack(large);
  for (const owner of "aaab") assert.ok(queue.add(job(owner)));
  assert.ok(!queue.add(job("b")), "it has one, and the queue is full");
  for (const owner of "cdef") assert.ok(queue.add(job(owner)));
  assert.ok(!queue.add(job("g")), "twice as many");
});
