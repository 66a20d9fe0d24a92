// Over 300 lines: the life of a worker and its end, case by case.
import assert from "node:assert/strict";
import { heldWorkers } from "../../../tests/support/held_workers.ts";
import { LOOK_MS, WorkerThread, type WorkerThreadOptions } from "./worker_thread.ts";

/** A worker of jobs and results in words. */
function heldHost(options: Partial<WorkerThreadOptions<string, string>> = {}) {
  const held = heldWorkers<string, string, string, string>();
  const host = new WorkerThread<string, string, string, string>({ ...held.services, ...options });
  const run = (job: string, timeMs = 1_000) => host.run(job, { timeMs });
  const told = (worker?: number) => held.jobs(worker).map(({ job }) => job);
  return { ...held, host, run, told };
}

const result = (text: string) => ({ type: "result", result: text });
const several = { bounds: { silenceMs: 3_000 } };

Deno.test("WorkerThread starts its worker with the first job, and gives it jobs once it is ready", async () => {
  const { host, workers, run, told, ready, say } = heldHost();
  assert.deepEqual([host.isUsable, host.isStarted, workers.length], [true, false, 0]);
  const ends = [run("a"), run("b")];
  assert.deepEqual([host.isStarted, host.isReady, workers.length, told()], [true, false, 1, []]);
  ready();
  ready(); // said twice, it counts once
  assert.deepEqual([host.isReady, told()], [true, ["a", "b"]]);
  ends.push(run("c"));
  for (const [id, text] of [[2, "C"], [0, "A"], [1, "B"]] as const) say({ id, result: text });
  assert.deepEqual(await Promise.all(ends), ["A", "B", "C"].map(result));
  host.close();
});

Deno.test("WorkerThread.run() gives buffers away and hears what is said of a job, before its end and after", async () => {
  const strays: string[] = [];
  const { host, workers, ready, say } = heldHost({ onStray: (word) => void strays.push(word) });
  const words: string[] = [];
  const { buffer } = new Uint8Array(3);
  const end = host.run("a", {
    timeMs: 1_000,
    transfer: [buffer],
    onWord(word, answer) {
      words.push(word);
      answer(`${word}!`);
    },
  });
  ready();
  assert.deepEqual(workers[0]!.transferred, [buffer]);
  say({ id: 0, word: "x" });
  say({ id: 0, failed: "TypeError" });
  say({ id: 0, word: "late" });
  say({ id: 0, result: "late" });
  assert.deepEqual(await end, { type: "failed", reason: "TypeError" });
  assert.deepEqual([words, strays, workers[0]!.posted.at(-1)], [["x"], ["late"], { word: "x!" }]);
  host.close();
});

Deno.test("WorkerThread gives no worker an answer to the question of another", () => {
  const answers: ((answer: string) => void)[] = [];
  const { host, workers, ready, say, die, run } = heldHost();
  host.run("a", { timeMs: 1_000, onWord: (_, answer) => void answers.push(answer) });
  ready();
  say({ id: 0, word: "x" });
  die(new Error("gone"));
  run("b");
  ready();
  answers[0]!("to the first");
  assert.deepEqual(workers.map(({ posted }) => posted), [[{ id: 0, job: "a" }], [{
    id: 1,
    job: "b",
  }]]);
  host.close();
});

Deno.test("WorkerThread tells of a worker that dies with jobs in it, and the next job has another at once", async () => {
  const { host, workers, losses, looked, run, told, ready, die, say } = heldHost();
  const lost = [run("a"), run("b")];
  ready();
  const failure = new Error("gone");
  die(failure);
  die(failure);
  assert.deepEqual(await Promise.all(lost), [{ type: "lost" }, { type: "lost" }]);
  assert.deepEqual([losses, workers[0]!.isTerminated, host.isStarted, looked()], [
    [failure],
    true,
    false,
    0,
  ]);
  const next = run("c");
  ready(1);
  say({ id: 2, result: "of the dead one" }, 0);
  assert.deepEqual(told(1), ["c"]);
  say({ id: 2, result: "C" }, 1);
  assert.deepEqual(await next, result("C"));
  host.close();
});

Deno.test("WorkerThread starts none for a while after a start that failed, longer each time until a job ends", async () => {
  const { host, workers, losses, looked, run, ready, die, say, pass } = heldHost();
  const restsMs: number[] = [];
  const restMs = () => {
    let restedMs = 0;
    for (; !host.isUsable; restedMs += LOOK_MS) pass(LOOK_MS);
    assert.equal(looked(), 0);
    return restedMs;
  };
  for (let i = 0; i < 8; i++) {
    const job = run("a");
    die(new Error("no modules"));
    assert.deepEqual(await job, { type: "no_worker" });
    assert.deepEqual(await run("b"), { type: "no_worker" });
    assert.equal(workers.length, i + 1, "none is started meanwhile");
    restsMs.push(restMs() / 1_000);
  }
  assert.deepEqual(restsMs, [10, 20, 40, 60, 60, 60, 60, 60]);
  const slow = run("a");
  pass(10_000);
  assert.equal(losses.length, 8);
  pass(LOOK_MS);
  assert.match(String(losses[8]), /did not start in time/);
  assert.deepEqual([await slow, workers[8]!.isTerminated], [{ type: "no_worker" }, true]);
  restMs();
  const good = run("a");
  ready();
  say({ id: 9, result: "A" });
  assert.deepEqual(await good, result("A"));
  die(new Error("gone"));
  assert.ok(host.isUsable, "a worker that had started is started again at once");
  run("a");
  die(new Error("no modules"));
  assert.equal(restMs(), 10_000);
});

Deno.test("WorkerThread comes to the end of its rest though it was told to rest while a worker ran", () => {
  const { host, workers, looked, ready, die, pass } = heldHost({ bounds: { idleMs: Infinity } });
  host.start();
  ready();
  host.rest();
  pass(LOOK_MS);
  assert.deepEqual([looked(), host.isReady], [0, true]);
  die(new Error("gone"));
  pass(10_000);
  assert.ok(host.isUsable);
  host.start();
  assert.deepEqual([workers.length, looked()], [2, 1]);
  host.close();
});

Deno.test("WorkerThread goes on without a worker where none can be started, or none exists", async () => {
  const refusal = new Error("no workers here");
  const { host, losses, run } = heldHost({
    start: () => {
      throw refusal;
    },
  });
  assert.deepEqual([await run("a"), losses, host.isUsable], [
    { type: "no_worker" },
    [refusal],
    false,
  ]);
  const without = heldHost({ start: null });
  assert.deepEqual([await without.run("a"), without.losses, without.host.isUsable], [
    { type: "no_worker" },
    [],
    false,
  ]);
});

Deno.test("WorkerThread ends the worker of a job whose time is over, counted from when it has it", async () => {
  const { host, workers, losses, run, ready, pass, end, told } = heldHost();
  const late = run("a", 1_000);
  pass(5_000);
  ready();
  pass(1_000);
  assert.ok(host.isStarted);
  pass(LOOK_MS);
  assert.deepEqual([await late, workers[0]!.isTerminated, losses], [
    { type: "timed_out" },
    true,
    [],
  ]);
  const next = run("b");
  ready(1);
  pass(750);
  end("B", 1);
  assert.deepEqual([await next, told(1)], [result("B"), ["b"]]);
  host.close();
});

Deno.test("WorkerThread does not take a pause of the whole process for the time of a job", async () => {
  const { host, run, ready, pass, end } = heldHost();
  const job = run("a", 1_000);
  ready();
  pass(LOOK_MS); // a timer that was due fires once, however long ago that was
  end("A");
  assert.deepEqual(await job, result("A"));
  host.close();
});

Deno.test("WorkerThread with several jobs at a time gives up one alone, and asks whether the worker is there", async () => {
  const strays: string[] = [];
  const { workers, losses, run, ready, pass, say } = heldHost({
    ...several,
    onStray: (word) => void strays.push(word),
  });
  const late = run("a", 1_000);
  const other = run("b", 60_000);
  ready();
  for (let i = 0; i < 5; i++) {
    pass(1_000);
    say("pong");
  }
  assert.deepEqual(await late, { type: "timed_out" });
  assert.ok(workers[0]!.posted.includes("ping"));
  say({ id: 0, word: "asks on" });
  assert.deepEqual([strays, workers[0]!.isTerminated], [["asks on"], false]);
  pass(3_000);
  assert.deepEqual(losses, []);
  pass(LOOK_MS);
  assert.match(String(losses), /does not answer/);
  assert.deepEqual([await other, workers[0]!.isTerminated], [{ type: "lost" }, true]);
});

Deno.test("WorkerThread does not take a worker for silent that had nothing to say", async () => {
  const { host, losses, run, ready, pass, end } = heldHost(several);
  const first = run("a");
  ready();
  end("A");
  await first;
  pass(30_000);
  const second = run("b", 10_000);
  pass(2_750);
  end("B");
  assert.deepEqual([await second, losses], [result("B"), []]);
  host.close();
});

Deno.test("WorkerThread ends a worker that has had nothing to do for a minute, and starts another", async () => {
  const { host, workers, losses, looked, run, ready, pass, end } = heldHost();
  for (let i = 0; i < 2; i++) {
    const job = run("a");
    if (i === 0) ready();
    pass(750);
    end("A");
    await job;
    if (i === 0) pass(59_000);
  }
  pass(60_000);
  assert.equal(workers[0]!.isTerminated, false);
  pass(LOOK_MS);
  assert.deepEqual([workers[0]!.isTerminated, looked(), losses], [true, 0, []]);
  const next = run("b");
  ready(1);
  end("B", 1);
  assert.deepEqual(await next, result("B"));
  host.close();
});

Deno.test("WorkerThread keeps a worker that is not to be ended for want of jobs, and looks at it with the next one", async () => {
  const { host, workers, looked, run, ready, pass, end } = heldHost({
    bounds: { idleMs: Infinity },
  });
  const first = run("a");
  ready();
  end("A");
  await first;
  pass(LOOK_MS);
  assert.equal(looked(), 0);
  const late = run("b", 1_000);
  pass(1_250);
  assert.deepEqual([await late, workers[0]!.isTerminated], [{ type: "timed_out" }, true]);
  host.close();
});

Deno.test("WorkerThread.rest() has no worker started for a while", async () => {
  const { host, run, pass, looked, workers } = heldHost();
  host.rest();
  pass(9_750);
  assert.deepEqual([await run("a"), workers.length], [{ type: "no_worker" }, 0]);
  pass(LOOK_MS);
  run("a");
  assert.equal(workers.length, 1);
  host.rest();
  host.close();
  assert.equal(looked(), 0);
});

Deno.test("WorkerThread.run() fails a job that cannot be handed over, by the error's name alone", async () => {
  const held = heldWorkers<string, string>();
  const { host, ready, end } = {
    ...held,
    host: new WorkerThread<unknown, string>({
      ...held.services,
      start(events) {
        const worker = held.services.start(events);
        return {
          ...worker,
          postMessage: (message, transfer) =>
            worker.postMessage(structuredClone(message), transfer),
        };
      },
    }),
  };
  const ends = [host.run(() => "a function", { timeMs: 1_000 }), host.run("b", { timeMs: 1_000 })];
  ready();
  end("B");
  assert.deepEqual(await Promise.all(ends), [
    { type: "failed", reason: "DataCloneError" },
    result("B"),
  ]);
  host.close();
});

Deno.test("WorkerThread.close() ends the worker and all its jobs, and takes no more", async () => {
  for (const isReady of [false, true]) {
    const { host, workers, losses, looked, run, ready } = heldHost();
    const jobs = [run("a"), run("b")];
    if (isReady) ready();
    host.close();
    host.close();
    assert.deepEqual(await Promise.all(jobs), [{ type: "closed" }, { type: "closed" }]);
    assert.deepEqual(await run("c"), { type: "closed" });
    host.start();
    assert.deepEqual([workers.length, workers[0]!.isTerminated, looked(), losses], [
      1,
      true,
      0,
      [],
    ]);
  }
});
