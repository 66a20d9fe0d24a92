import assert from "node:assert/strict";
import { workerOf } from "./start_worker.ts";
import { WorkerThread } from "./worker_thread.ts";

Deno.test("serveJobs() does jobs of a real worker, asks, and fails by an error's name alone", async () => {
  const program = new URL("../../../tests/support/asking_worker_program.ts", import.meta.url);
  const said: unknown[] = [];
  const thread = new WorkerThread<string, Uint8Array, string, string>({
    start: (events) =>
      workerOf(program, { name: "asking" })({
        ...events,
        message(message) {
          said.push(message);
          events.message(message);
        },
      }),
    onLoss: (failure) => assert.fail(String(failure)),
  });
  try {
    const [good, bad] = await Promise.all([
      thread.run("it", {
        timeMs: 30_000,
        onWord: (word, say) => say(word === "what is it?" ? "an answer" : ""),
      }),
      thread.run("bad", { timeMs: 30_000 }),
    ]);
    assert.deepEqual(good, { type: "result", result: new TextEncoder().encode("an answer") });
    assert.deepEqual(bad, { type: "failed", reason: "RangeError" });
    assert.deepEqual([said[0], JSON.stringify(said).includes("secret")], ["ready", false]);
  } finally {
    thread.close();
  }
});

Deno.test("serveJobs() says that it is there while a job waits", async () => {
  const program = new URL("../../../tests/support/asking_worker_program.ts", import.meta.url);
  const [isAsked, isThere] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const worker = workerOf(program, { name: "asking" })({
    message(message) {
      if (message === "pong") isThere.resolve();
      if (typeof message === "object") isAsked.resolve();
    },
    died: (failure) => isAsked.reject(failure),
  });
  worker.postMessage({ id: 0, job: "it" }, []);
  await isAsked.promise;
  worker.postMessage("ping", []);
  await isThere.promise;
  worker.terminate();
});
