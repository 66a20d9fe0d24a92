import assert from "node:assert/strict";
import fc from "../../tests/support/seeded_fast_check.ts";
import { FairLine, type LinedJob } from "./fair_line.ts";

const bounds = { jobs: 4, bytes: 100, ownerJobs: 3, ownerBytes: 60 };
const lineOf = () => new FairLine<LinedJob>(bounds);
const job = (owner: string, sizeBytes = 1): LinedJob => ({ owner, sizeBytes });

function ownersOf(line: FairLine<LinedJob>): string {
  const owners: string[] = [];
  for (let next = line.take(); next !== undefined; next = line.take()) owners.push(next.owner);
  return owners.join("");
}

Deno.test("FairLine gives each owner a turn, whoever came first with however many", () => {
  const line = new FairLine<LinedJob>({ ...bounds, jobs: 20, ownerJobs: 20 });
  for (const owner of "aaaabbc") assert.ok(line.add(job(owner)));
  const first = line.take()!;
  assert.ok(line.add(job("d")));
  assert.equal(first.owner + ownersOf(line), "abcdabaa");
  assert.ok(line.isEmpty);
});

Deno.test("FairLine lets nobody have three turns while another owner waits", () => {
  let turns = 0;
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("take", "take", "a", "b", "c", "d"), {
        minLength: 20,
        maxLength: 60,
      }),
      (steps) => {
        const line = new FairLine<LinedJob>({
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
            line.add(job(step));
            if (waiting[step]!++ === 0) since.set(step, []);
            continue;
          }
          const taken = line.take();
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

Deno.test("FairLine bounds an owner's jobs and bytes, under way ones too", () => {
  const line = lineOf();
  const jobs = [job("a"), job("a"), job("a")];
  for (const one of jobs) assert.ok(line.add(one));
  assert.ok(!line.add(job("a")));
  assert.ok(line.add(job("b", 50)));
  line.take();
  assert.ok(!line.add(job("a")), "it is under way");
  line.giveBack(jobs[0]!);
  assert.ok(line.add(job("a")));
  assert.ok(!line.add(job("b", 11)));
});

Deno.test("FairLine takes one large job, and those of newcomers up to twice its bounds", () => {
  const line = lineOf();
  const large = job("a", 1_000);
  assert.ok(line.add(large), "alone it may be larger");
  assert.ok(!line.add(job("b")));
  line.take();
  line.giveBack(large);
  for (const owner of "aaab") assert.ok(line.add(job(owner)));
  assert.ok(!line.add(job("b")), "it has one, and the line is full");
  for (const owner of "cdef") assert.ok(line.add(job(owner)));
  assert.ok(!line.add(job("g")), "twice as many");
});
