import assert from "node:assert/strict";
import { type RunningWorker, workerOf } from "../../server/base/workers/start_worker.ts";
import { keepWorkers, looksForLeaks } from "./kept_workers.ts";

keepWorkers();

/** Answers each job with how many it has had, but for the one that is to be left. */
const PROGRAM = `let jobs = 0;
onmessage = ({ data }) => data.job === "leave" || postMessage({ id: data.id, result: ++jobs });
postMessage("ready");`;

const start = workerOf(`data:text/javascript,${encodeURIComponent(PROGRAM)}`, { name: "mail" });

/** A worker, ready, and what it said since. */
async function startReady(): Promise<{ worker: RunningWorker; heard: unknown[] }> {
  const heard: unknown[] = [];
  const ready = Promise.withResolvers<void>();
  const worker = start({
    message: (message) => message === "ready" ? ready.resolve() : void heard.push(message),
    died: ready.reject,
  });
  await ready.promise;
  return { worker, heard };
}

async function ask({ worker, heard }: Awaited<ReturnType<typeof startReady>>): Promise<unknown> {
  const before = heard.length;
  worker.postMessage({ id: 0, job: "count" }, []);
  while (heard.length === before) await new Promise((resolve) => setTimeout(resolve));
  return heard.at(-1);
}

Deno.test({
  name:
    "keepWorkers() hands on a worker without a job, ends one with a job, and tells the former holder nothing",
  ignore: looksForLeaks,
  async fn() {
    const first = await startReady();
    assert.deepEqual(await ask(first), { id: 0, result: 1 });
    first.worker.terminate();
    const second = await startReady();
    assert.deepEqual(await ask(second), { id: 0, result: 2 });
    assert.equal(first.heard.length, 1);
    // Ended again by its former holder it stays with the present one.
    first.worker.terminate();
    assert.deepEqual(await ask(second), { id: 0, result: 3 });
    second.worker.postMessage({ id: 1, job: "leave" }, []);
    second.worker.terminate();
    const third = await startReady();
    assert.deepEqual(await ask(third), { id: 0, result: 1 });
    third.worker.terminate();
  },
});
