import assert from "node:assert/strict";
import { heldWorkers, settle } from "../../../tests/support/held_workers.ts";
import { type JobSteps, JobWorkers, type JobWorkersOptions } from "./job_workers.ts";
import { LOOK_MS } from "./worker_thread.ts";

interface Job {
  raw: Uint8Array;
  name: string;
}

type Options = Partial<JobWorkersOptions<Job, string, string>>;

/** Steps that a job has on the main thread. */
function* stepsHere({ name }: Job): Generator<string | null, string> {
  yield null;
  yield `${name} here`;
  yield null;
  return name.toUpperCase();
}

const result = (text: string) => ({ type: "result", result: text });

function heldPool(options: Options = {}) {
  const held = heldWorkers<Job, string, string>();
  const pool = new JobWorkers<Job, string, string>({
    ...held.services,
    now: () => held.clock.nowMs,
    here: (job) => Promise.resolve(stepsHere(job)),
    ...options,
  });
  const steps: string[] = [];
  const run = (name: string, owner = "org", raw = new Uint8Array(1)) =>
    pool.run({ raw, name }, {
      owner,
      sizeBytes: raw.length,
      onStep: (step) => steps.push(step),
    });
  const told = (worker?: number) => held.jobs(worker).map(({ job }) => job.name);
  return { ...held, pool, run, told, steps };
}

Deno.test("JobWorkers does one job at a time, of owners in turn, and tells of its steps", async () => {
  const { pool, workers, run, told, steps, ready, end, say } = heldPool();
  const ends = [run("a1", "a"), run("a2", "a"), run("a3", "a"), run("b1", "b")];
  await settle();
  ready();
  assert.deepEqual(told(), ["a1"]);
  say({ id: 0, word: "step" });
  for (let i = 0; i < 4; i++) {
    assert.equal(told().length, i + 1);
    end(`${i}`);
    await settle();
  }
  assert.deepEqual([told(), workers.length, steps], [["a1", "b1", "a2", "a3"], 1, ["step"]]);
  assert.deepEqual(await Promise.all(ends), ["0", "2", "3", "1"].map(result));
  pool.close();
});

for (const workers of [1, 2]) {
  Deno.test(`JobWorkers with ${workers} worker(s) has another owner's job wait for one of six slow ones`, async () => {
    const { pool, workers: started, run, told, ready, pass, end } = heldPool({ workers });
    const slow = Array.from({ length: 6 }, () => run("slow"));
    const innocent = run("innocent", "other");
    await settle();
    assert.equal(started.length, workers);
    ready(0);
    pass(LOOK_MS);
    if (workers === 2) ready(1);
    pass(5_000); // the time of the first is over
    await settle();
    assert.deepEqual([started.length, started[0]!.isTerminated], [workers + 1, true]);
    ready(workers);
    assert.deepEqual(told(workers), ["innocent"]);
    end("INNOCENT", workers);
    assert.deepEqual(await innocent, result("INNOCENT"));
    pool.close();
    const types = (await Promise.all(slow)).map(({ type }) => type).sort();
    assert.deepEqual(types, ["closed", "closed", "closed", "closed", "closed", "timed_out"]);
  });
}

Deno.test("JobWorkers starts a second worker only when the first has something to do", async () => {
  const { pool, workers, run, ready, end } = heldPool({ workers: 2 });
  for (let i = 0; i < 3; i++) {
    const job = run("a");
    await settle();
    if (i === 0) ready();
    end("A", 0);
    await job;
  }
  assert.equal(workers.length, 1);
  const both = [run("b"), run("c")];
  await settle();
  assert.equal(workers.length, 2);
  pool.close();
  await Promise.all(both);
});

Deno.test("JobWorkers gives an owner whose job took its whole time a shorter one for ten minutes", async () => {
  const { pool, clock, workers, run, ready, pass } = heldPool();
  const timeMs = async (owner: string) => {
    const before = workers.length;
    const job = run("slow", owner);
    await settle();
    assert.equal(workers.length, before + 1);
    ready();
    const beganMs = clock.nowMs;
    while (!workers.at(-1)!.isTerminated) pass(LOOK_MS);
    assert.deepEqual(await job, { type: "timed_out" });
    return clock.nowMs - beganMs - LOOK_MS;
  };
  assert.deepEqual([await timeMs("org"), await timeMs("other")], [5_000, 5_000]);
  assert.equal(await timeMs("org"), 1_000);
  clock.nowMs += 10 * 60_000 - 1;
  assert.equal(await timeMs("org"), 1_000);
  clock.nowMs += 10 * 60_000;
  assert.equal(await timeMs("org"), 5_000);
  pool.close();
});

Deno.test("JobWorkers refuses what it has no room for, and takes it later", async () => {
  const { pool, run, ready, end } = heldPool({ bounds: { jobs: 3, bytes: 100 } });
  const large = run("large", "org", new Uint8Array(1_000)); // alone it may be larger
  assert.deepEqual(await run("a"), { type: "refused" });
  ready();
  end("LARGE");
  assert.deepEqual(await large, result("LARGE"));
  const jobs = [1, 2, 3].map(() => run("a"));
  assert.deepEqual(await run("a"), { type: "refused" });
  for (const job of jobs) {
    await settle();
    end("A");
    assert.deepEqual(await job, result("A"));
  }
  pool.close();
});

Deno.test("JobWorkers does jobs on the main thread where there is no worker, and none that a worker had begun", async () => {
  const without = heldPool({ start: null, workers: 2 });
  assert.deepEqual(await Promise.all([without.run("a"), without.run("b")]), ["A", "B"].map(result));
  assert.deepEqual(without.steps, ["a here", "b here"], "one after the other");
  const { pool, run, steps, die } = heldPool();
  const first = run("a");
  await settle();
  die(new Error("no modules"));
  assert.deepEqual([await first, await run("b")], ["A", "B"].map(result));
  assert.deepEqual(steps, ["a here", "b here"]);
  pool.close();
  const begun = heldPool();
  const fatal = begun.run("a");
  await settle();
  begun.ready();
  begun.die(new Error("gone"));
  assert.deepEqual([await fatal, begun.steps], [{ type: "lost" }, []]);
});

Deno.test("JobWorkers keeps a job's time on the main thread, in slices between which others run", async () => {
  let nowMs = 0;
  let turns = 0;
  function* forever(): Generator<string | null, string> {
    for (;;) {
      nowMs += 20;
      yield null;
    }
  }
  const { pool, run } = heldPool({
    start: null,
    now: () => nowMs,
    here: () => Promise.resolve(forever()),
  });
  const others = setInterval(() => turns++, 0);
  assert.deepEqual(await run("a"), { type: "timed_out" });
  clearInterval(others);
  assert.deepEqual([Math.ceil(nowMs / 100), turns > 100], [51, true]);
  const closed = run("b");
  await settle();
  pool.close();
  assert.deepEqual(await closed, { type: "closed" });
});

Deno.test("JobWorkers fails a job that fails on the main thread, by the error's name alone", async () => {
  const here = () => Promise.reject<JobSteps<string, string>>(new RangeError("secret"));
  const { run } = heldPool({ start: null, here });
  assert.deepEqual(await run("a"), { type: "failed", reason: "RangeError" });
});

Deno.test("JobWorkers gives the worker a copy of the bytes, made in slices, and no half of one", async () => {
  const { pool, run, jobs, workers, ready, end, die } = heldPool();
  const large = new Uint8Array(5 * 1024 * 1024).fill(7);
  const view = large.subarray(1);
  let turns = 0;
  const others = setInterval(() => turns++, 0);
  const whole = run("large", "org", view);
  while (workers.length === 0) await settle();
  clearInterval(others);
  ready();
  assert.ok(turns > 0);
  const { raw } = jobs()[0]!.job;
  assert.deepEqual([raw.length, raw.buffer.byteLength], [view.length, view.length]);
  assert.deepEqual(workers[0]!.transferred, [raw.buffer]);
  assert.ok(raw.every((byte) => byte === 7));
  end("LARGE");
  assert.deepEqual([await whole, large.length], [result("LARGE"), 5 * 1024 * 1024]);
  die(new Error("gone"));
  const closed = run("large", "org", large);
  pool.close();
  assert.deepEqual([await closed, workers.length], [{ type: "closed" }, 1]);
});

Deno.test("JobWorkers.close() ends what waits and what comes", async () => {
  const { pool, workers, run, ready, looked } = heldPool();
  const jobs = [run("a"), run("b"), run("c", "other")];
  await settle();
  ready();
  pool.close();
  assert.deepEqual(await Promise.all(jobs), jobs.map(() => ({ type: "closed" })));
  assert.deepEqual(await run("d"), { type: "closed" });
  assert.deepEqual([workers.length, workers[0]!.isTerminated, looked()], [1, true, 0]);
});
