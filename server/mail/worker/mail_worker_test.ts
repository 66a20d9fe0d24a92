import assert from "node:assert/strict";
import { RelayError } from "../../base/errors.ts";
import { heldWorker, result } from "../../../tests/support/held_mail_worker.ts";
import { readTexts } from "../../../tests/support/read_texts.ts";
import { MAIL_JOBS } from "./mail_jobs.ts";
import { MailWorker } from "./mail_worker.ts";
import type { ParsedFacts } from "../reading/parsed/parsed_mail.ts";
import type { ParsedPatch } from "../reading/parsed/parsed_patch.ts";
import { startMailWorker } from "./start_mail_worker.ts";

const wanted = { index: 0, sha256: "" };
const limits = { parts: 200, depth: 50 };
const context = { envelopeFrom: "a@a.example", limits };
const mail = (text: string) => new TextEncoder().encode(`Subject: ${text}\r\n\r\nHi`);
/** One that is read step by step. */
const largeMail = (text: string) =>
  new TextEncoder().encode(
    `Subject: ${text}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHi\r\n--b\r\n` +
      `Content-Type: a/b\r\n\r\n${"x".repeat(64 * 1024)}\r\n--b--\r\n`,
  );
const hasCode = (code: string) => (error: unknown) =>
  error instanceof RelayError && error.code === code;

const warned = (...parseWarnings: ParsedFacts["parseWarnings"]) => result({ parseWarnings });

Deno.test("MailWorker starts one worker when it is first wanted, and gives it one job at a time", async () => {
  const { worker, workers, ready, ended, timers } = heldWorker();
  assert.equal(workers.length, 0);
  const first = worker.read(mail("a"), context, "org");
  const second = worker.read(mail("b"), context, "org");
  assert.deepEqual([workers.length, workers[0]!.jobs.length], [1, 0]);
  ready();
  assert.equal(workers[0]!.jobs.length, 1);
  assert.deepEqual(workers[0]!.jobs[0], { kind: "read", raw: mail("a"), input: context });
  assert.deepEqual(timers.map(({ delayMs }) => delayMs), [5_000]);
  workers[0]!.events.message({ type: "step", step: { facts: { subject: "step" } } });
  ended(0, "a");
  assert.equal(workers[0]!.jobs.length, 2);
  assert.deepEqual(await first, result({ subject: "a" }));
  ended(0, "b");
  assert.deepEqual(await second, result({ subject: "b" }));
  assert.deepEqual([workers.length, timers.map(({ delayMs }) => delayMs)], [1, [60_000]]);
  worker.close();
  assert.deepEqual([workers[0]!.isTerminated, timers.length], [true, 0]);
});

Deno.test("MailWorker ends a worker that has had nothing to do for a minute, and starts another", async () => {
  const { worker, workers, timers, ready, ended } = heldWorker();
  const first = worker.read(mail("a"), context, "org");
  ready();
  ended();
  await first;
  timers.shift()!.callback();
  assert.ok(workers[0]!.isTerminated);
  const second = worker.read(mail("b"), context, "org");
  ready(1);
  ended(1);
  await second;
  const third = worker.read(mail("c"), context, "org");
  assert.deepEqual(timers.map(({ delayMs }) => delayMs), [5_000]);
  ended(1);
  await third;
  assert.equal(workers.length, 2);
  worker.close();
});

Deno.test("MailWorker.read() gives what was read of a mail that takes too long, and reads the next one", async () => {
  const { worker, workers, timers, ready, ended, losses } = heldWorker();
  const late = worker.read(mail("a"), context, "org");
  const next = worker.read(mail("b"), context, "org");
  ready();
  const step = {
    facts: { subject: "a" },
    texts: { text: "Hi" },
    warnings: ["several_from" as const],
  };
  workers[0]!.events.message({ type: "step", step });
  timers.shift()!.callback();
  const { facts, ...encoded } = await late;
  assert.deepEqual([facts.subject, readTexts(encoded).text, facts.parseWarnings], ["a", "Hi", [
    "several_from",
    "timed_out",
  ]]);
  assert.deepEqual([workers.length, workers[0]!.isTerminated], [2, true]);
  ended(0, "too late");
  ready(1);
  ended(1, "b");
  assert.deepEqual(await next, result({ subject: "b" }));
  assert.deepEqual(losses, []);
  worker.close();
});

Deno.test("MailWorker.read() gives what was read of a mail that ends the worker or fails in it", async () => {
  const { worker, workers, ready, losses } = heldWorker();
  const fatal = worker.read(mail("a"), context, "org");
  const failing = worker.read(mail("b"), context, "org");
  ready();
  workers[0]!.events.died(new Error("gone"));
  assert.deepEqual(await fatal, warned("parser_failed"));
  ready(1);
  workers[1]!.events.message({ type: "failed", reason: "RangeError" });
  assert.deepEqual(await failing, warned("parser_failed"));
  assert.deepEqual([workers.length, workers[1]!.isTerminated], [2, false]);
  assert.match(losses.join(), /gone.*RangeError/);
  worker.close();
});

Deno.test("MailWorker refuses what it has no room for, and takes it later", async () => {
  const bounds = { jobs: 3, bytes: 100 };
  const { worker, ready, ended } = heldWorker({ bounds });
  const large = worker.read(new Uint8Array(1_000), context, "org"); // alone it may be larger
  await assert.rejects(worker.read(mail("a"), context, "org"), hasCode("unavailable"));
  ready();
  ended();
  await large;
  const jobs = [1, 2, 3].map(() => worker.read(mail("a"), context, "org"));
  await assert.rejects(
    worker.readAttachment(mail("a"), wanted, limits, "org"),
    hasCode("unavailable"),
  );
  for (const job of jobs) {
    ended();
    assert.deepEqual(await job, result({ subject: "read" }));
  }
  worker.close();
});

Deno.test("MailWorker reads on the main thread where no worker starts, and tries that three times", async () => {
  let starts = 0;
  const { worker, losses } = heldWorker({
    start: () => {
      starts++;
      throw new Error("no workers here");
    },
  });
  for (let i = 0; i < 5; i++) {
    const { facts, ...encoded } = await worker.read(mail("a"), context, "org");
    assert.deepEqual([facts.subject, readTexts(encoded).text, facts.parseWarnings], [
      "a",
      "Hi",
      [],
    ]);
  }
  assert.deepEqual([starts, losses.length], [3, 3]);
  const without = heldWorker({ start: null });
  assert.equal((await without.worker.read(mail("a"), context, "org")).facts.subject, "a");
  assert.equal(await without.worker.readAttachment(mail("a"), wanted, limits, "org"), null);
  assert.deepEqual(without.losses, []);
});

Deno.test("MailWorker reads on the main thread when a start takes too long or the worker dies of it", async () => {
  const { worker, workers, timers, losses } = heldWorker();
  const first = worker.read(mail("a"), context, "org");
  assert.equal(timers[0]!.delayMs, 10_000);
  timers.shift()!.callback();
  assert.equal((await first).facts.subject, "a");
  const second = worker.read(mail("b"), context, "org");
  workers[1]!.events.died(new Error("no memory"));
  assert.equal((await second).facts.subject, "b");
  assert.deepEqual([workers[0]!.isTerminated, losses.length], [true, 2]);
  worker.close();
});

/** What is posted about a mail while it is read, null where others may have a turn. */
const stepsOf = (
  raw: Uint8Array,
) => [...MAIL_JOBS.read.run(raw, context) as Iterable<ParsedPatch | null>];

Deno.test("a mail of up to 64 KiB is told of whole, a larger one as it is read", () => {
  assert.deepEqual(stepsOf(mail("a")).filter((step) => step !== null), []);
  const [first] = stepsOf(largeMail("a")).filter((step) => step !== null);
  assert.equal(first?.facts?.subject, "a");
});

Deno.test("MailWorker keeps a job's time on the main thread between its steps", async () => {
  let nowMs = 0;
  // The time is over at the step behind its text; the clock is looked at twice a step.
  const textAt = stepsOf(largeMail("a")).findIndex((step) => step?.texts?.text !== undefined);
  assert.ok(textAt > 0);
  const tickMs = 5_000 / (2 * textAt + 2);
  const { worker } = heldWorker({ start: null, now: () => (nowMs += tickMs) });
  const { facts, ...encoded } = await worker.read(largeMail("a"), context, "org");
  assert.deepEqual([facts.subject, readTexts(encoded).text, facts.parseWarnings], ["a", "Hi", [
    "timed_out",
  ]]);
});

Deno.test("MailWorker.readAttachment() is refused when it takes too long, and fails where reading fails", async () => {
  const { worker, workers, timers, ready } = heldWorker();
  const late = worker.readAttachment(mail("a"), wanted, limits, "org");
  ready();
  timers.shift()!.callback();
  await assert.rejects(late, hasCode("unavailable"));
  const failing = worker.readAttachment(mail("a"), wanted, limits, "org");
  ready(1);
  workers[1]!.events.message({ type: "failed", reason: "Error" });
  await assert.rejects(failing, /an attachment could not be read/);
  worker.close();
});

Deno.test("MailWorker.close() refuses what waits and what comes", async () => {
  const { worker, workers, timers, ready } = heldWorker();
  const jobs = [
    worker.read(mail("a"), context, "org"),
    worker.readAttachment(mail("b"), wanted, limits, "org"),
  ];
  const refused = jobs.map((job) => assert.rejects(job, hasCode("unavailable")));
  ready();
  worker.close();
  await Promise.all(refused);
  await assert.rejects(worker.read(mail("a"), context, "org"), hasCode("unavailable"));
  assert.deepEqual([workers.length, workers[0]!.isTerminated, timers.length], [1, true, 0]);
});

Deno.test("MailWorker copies large mails in slices, and gives no half of one away", async () => {
  const { worker, workers, timers, ready, ended, losses } = heldWorker();
  const large = new Uint8Array(5 * 1024 * 1024).fill(7);
  const whole = worker.read(large, context, "org");
  ready();
  assert.deepEqual([workers[0]!.jobs.length, timers.length], [0, 0]);
  while (workers[0]!.jobs.length === 0) await new Promise((resolve) => setTimeout(resolve));
  assert.ok(workers[0]!.jobs[0]!.raw.every((byte) => byte === 7));
  assert.equal(workers[0]!.jobs[0]!.raw.length, large.length);
  ended(0, "large");
  assert.deepEqual(await whole, result({ subject: "large" }));
  const dying = worker.read(large, context, "org");
  workers[0]!.events.died(new Error("gone"));
  assert.deepEqual(await dying, warned("parser_failed"));
  const closed = assert.rejects(worker.read(large, context, "org"), hasCode("unavailable"));
  ready(1);
  worker.close();
  await closed;
  assert.deepEqual([workers[0]!.jobs.length, workers[1]!.jobs.length, losses.length], [1, 0, 1]);
});

Deno.test("MailWorker reads in a real worker, and leaves the caller its bytes", async () => {
  const worker = new MailWorker({
    start: startMailWorker,
    onLoss: (failure) => assert.fail(String(failure)),
  });
  const whole = new TextEncoder().encode("xxSubject: s\r\nContent-Type: a/b; name=n\r\n\r\n\0\r\n");
  const raw = whole.subarray(2);
  const { facts } = await worker.read(raw, context, "org");
  assert.deepEqual([facts.subject, facts.attachments[0]?.filename], ["s", "n"]);
  assert.equal(raw.length, whole.length - 2);
  const { sha256 } = facts.attachments[0]!;
  const read = await worker.readAttachment(raw, { index: 0, sha256 }, limits, "org");
  assert.deepEqual(read, { attachment: facts.attachments[0], bytes: new Uint8Array([0, 13, 10]) });
  assert.equal(await worker.readAttachment(raw, { index: 1, sha256 }, limits, "org"), null);
  worker.close();
});

Deno.test("MailWorker ends a real worker whose time is over, and the next mail has another", async () => {
  const timers: (() => void)[] = [];
  const posted = Promise.withResolvers<void>();
  const worker = new MailWorker({
    start: startMailWorker,
    onLoss: (failure) => assert.fail(String(failure)),
    after: (delayMs, callback) => {
      timers.push(callback);
      if (delayMs === 5_000) posted.resolve();
      return () => {};
    },
  });
  const raw = new Uint8Array(25 * 1024 * 1024).fill(10);
  raw.set(mail("a"));
  const late = worker.read(raw, context, "org");
  await posted.promise;
  timers.at(-1)!();
  assert.ok((await late).facts.parseWarnings.includes("timed_out"));
  assert.equal((await worker.read(mail("b"), context, "org")).facts.subject, "b");
  worker.close();
});
