import assert from "node:assert/strict";
import { heldMailWorker, result } from "../../../tests/support/held_mail_worker.ts";
import { settle } from "../../../tests/support/held_workers.ts";
import { readTexts } from "../../../tests/support/read_texts.ts";
import { MAIL_JOBS } from "./mail_jobs.ts";
import { MailWorker, startMailWorker } from "./mail_worker.ts";
import type { ParsedFacts } from "../reading/parsed/parsed_mail.ts";
import type { ParsedPatch } from "../reading/parsed/parsed_patch.ts";

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
const warned = (...parseWarnings: ParsedFacts["parseWarnings"]) => result({ parseWarnings });

Deno.test("MailWorker.read() gives what the worker finds, and what was read of a mail that takes too long", async () => {
  const { worker, jobs, losses, ready, end, pass, say } = heldMailWorker();
  const whole = worker.read(mail("a"), context, "org");
  await settle();
  ready();
  assert.deepEqual(jobs()[0]!.job, { kind: "read", raw: mail("a"), input: context });
  say({ id: 0, word: { facts: { subject: "step" } } });
  end(result({ subject: "a" }));
  assert.deepEqual(await whole, result({ subject: "a" }));
  const late = worker.read(mail("b"), context, "org");
  await settle();
  const word = {
    facts: { subject: "b" },
    texts: { text: "Hi" },
    warnings: ["several_from" as const],
  };
  say({ id: 1, word });
  pass(5_250);
  const { facts, ...encoded } = await late;
  assert.deepEqual([facts.subject, readTexts(encoded).text, facts.parseWarnings], ["b", "Hi", [
    "several_from",
    "timed_out",
  ]]);
  assert.deepEqual(losses, []);
  worker.close();
});

Deno.test("MailWorker.read() gives what was read of a mail that ends the worker or fails in it", async () => {
  const { worker, workers, losses, ready, die, say } = heldMailWorker();
  const fatal = worker.read(mail("a"), context, "org");
  const failing = worker.read(mail("b"), context, "org");
  await settle();
  ready();
  die(new Error("gone"));
  assert.deepEqual(await fatal, warned("parser_failed"));
  await settle();
  ready(1);
  say({ id: 1, failed: "RangeError" });
  assert.deepEqual(await failing, warned("parser_failed"));
  assert.deepEqual([workers.length, workers[1]!.isTerminated], [2, false]);
  assert.match(losses.join(), /gone.*RangeError/);
  worker.close();
});

Deno.test("MailWorker reads on the main thread where no worker starts", async () => {
  for (const start of [null, () => assert.fail("no workers here")]) {
    const { worker, losses } = heldMailWorker({ start });
    const { facts, ...encoded } = await worker.read(mail("a"), context, "org");
    assert.deepEqual([facts.subject, readTexts(encoded).text, facts.parseWarnings], [
      "a",
      "Hi",
      [],
    ]);
    assert.equal(await worker.readAttachment(mail("a"), wanted, limits, "org"), null);
    assert.equal(losses.length, start === null ? 0 : 1);
  }
});

/** What is posted about a mail while it is read, null where others may run. */
const stepsOf = (
  raw: Uint8Array,
) => [...MAIL_JOBS.read.run(raw, context) as Iterable<ParsedPatch | null>];

Deno.test("a mail of up to 64 KiB is told of whole, a larger one as it is read", () => {
  assert.deepEqual(stepsOf(mail("a")).filter((step) => step !== null), []);
  const [first] = stepsOf(largeMail("a")).filter((step) => step !== null);
  assert.equal(first?.facts?.subject, "a");
});

Deno.test("MailWorker.read() gives what was read on the main thread until its time was over", async () => {
  let nowMs = 0;
  // The time is over at the step behind its text; the clock is looked at twice a step.
  const textAt = stepsOf(largeMail("a")).findIndex((step) => step?.texts?.text !== undefined);
  assert.ok(textAt > 0);
  const tickMs = 5_000 / (2 * textAt + 2);
  const { worker } = heldMailWorker({ start: null, now: () => (nowMs += tickMs) });
  const { facts, ...encoded } = await worker.read(largeMail("a"), context, "org");
  assert.deepEqual([facts.subject, readTexts(encoded).text, facts.parseWarnings], ["a", "Hi", [
    "timed_out",
  ]]);
});

Deno.test("MailWorker tells of what takes too long, fails, finds no room or comes too late", async () => {
  const { worker, ready, pass, say } = heldMailWorker({ bounds: { ownerJobs: 1 } });
  const attachment = () => worker.readAttachment(mail("a"), wanted, limits, "org");
  const late = assert.rejects(attachment(), {
    code: "unavailable",
    message: "the attachment could not be read in time: try again later",
  });
  await assert.rejects(attachment(), {
    code: "unavailable",
    message: "too much mail is being read: try again later",
  });
  await settle();
  ready();
  pass(5_250);
  await late;
  const failing = assert.rejects(attachment(), /^Error: an attachment could not be read$/);
  await settle();
  ready(1);
  say({ id: 1, failed: "Error" });
  await failing;
  const slow = assert.rejects(worker.preview(new Uint8Array(), "org"), {
    code: "unavailable",
    message: "the draft took too long to be made ready: try again later",
  });
  await settle();
  pass(5_250);
  await slow;
  const closed = assert.rejects(attachment(), {
    code: "unavailable",
    message: "the relay is stopping: try again later",
  });
  worker.close();
  await closed;
  await assert.rejects(worker.read(mail("a"), context, "org"), { code: "unavailable" });
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
  let look = () => {};
  const isReady = Promise.withResolvers<void>();
  const worker = new MailWorker({
    start: (events) =>
      startMailWorker({
        ...events,
        message(message) {
          events.message(message);
          if (message === "ready") isReady.resolve();
        },
      }),
    onLoss: (failure) => assert.fail(String(failure)),
    startTicker(tick) {
      look = tick;
      return () => {};
    },
  });
  const raw = new Uint8Array(25 * 1024 * 1024).fill(10);
  raw.set(mail("a"));
  const late = worker.read(raw, context, "org");
  await isReady.promise;
  for (let looks = 0; looks < 21; looks++) look();
  assert.ok((await late).facts.parseWarnings.includes("timed_out"));
  assert.equal((await worker.read(mail("b"), context, "org")).facts.subject, "b");
  worker.close();
});
