/** How the owners of jobs share the mail worker. */
import assert from "node:assert/strict";
import { heldWorker, result } from "../../../tests/support/held_mail_worker.ts";

const context = { envelopeFrom: "a@a.example", limits: { parts: 200, depth: 50 } };
const mail = (text: string) => new TextEncoder().encode(`Subject: ${text}\r\n\r\nHi`);

Deno.test("MailWorker gives an owner whose mail took its whole time a shorter one for ten minutes", async () => {
  let nowMs = 0;
  const { worker, workers, timers, ready, ended } = heldWorker({ now: () => nowMs });
  const times = async (owner: string, isSlow: boolean) => {
    const read = worker.read(mail("a"), context, owner);
    ready(workers.length - 1);
    const { delayMs, callback } = timers.at(-1)!;
    if (isSlow) callback();
    else ended(workers.length - 1);
    await read;
    return delayMs;
  };
  assert.equal(await times("org", true), 5_000);
  assert.deepEqual([await times("other", false), await times("org", false)], [5_000, 1_000]);
  nowMs = 10 * 60_000 - 1;
  assert.equal(await times("org", false), 1_000);
  nowMs++;
  assert.equal(await times("org", false), 5_000);
  worker.close();
});

for (const workerCount of [1, 2]) {
  Deno.test(`MailWorker with ${workerCount} worker(s) has another org's mail wait for one of six slow ones`, async () => {
    const { worker, workers, timers, ready, ended } = heldWorker({ workers: workerCount });
    const slow = Array.from({ length: 6 }, () => worker.read(mail("slow"), context, "org"));
    const innocent = worker.read(mail("innocent"), context, "other");
    assert.equal(workers.length, workerCount);
    for (const at of workers.keys()) ready(at);
    assert.equal(timers.length, workerCount);
    timers[0]!.callback(); // the time of one is over
    assert.equal(workers.length, workerCount + 1);
    ready(workerCount);
    assert.deepEqual(workers[workerCount]!.jobs.map(({ raw }) => raw), [mail("innocent")]);
    ended(workerCount, "innocent");
    assert.deepEqual(await innocent, result({ subject: "innocent" }));
    const closed = Promise.allSettled(slow);
    worker.close();
    assert.equal((await closed).filter(({ status }) => status === "rejected").length, 5);
  });
}

Deno.test("MailWorker starts a second worker only when the first has something to do", async () => {
  const { worker, workers, ready, ended } = heldWorker({ workers: 2 });
  for (let i = 0; i < 3; i++) {
    const read = worker.read(mail("a"), context, "org");
    if (i === 0) ready();
    ended();
    await read;
  }
  assert.equal(workers.length, 1);
  worker.close();
});
