import assert from "node:assert/strict";
import { AuthChecker } from "./auth_checker.ts";
import { CHECKER_BOUNDS, type CheckerBounds } from "./checker_bounds.ts";
import type { FromWorker, SenderCheck, ToWorker } from "./auth_messages.ts";
import type { AskDns } from "./dns_client.ts";
import type { Party } from "./next_check.ts";
import type { WorkerEvents } from "./start_auth_worker.ts";

const CLIENT = { clientIp: "192.0.2.1", helo: null, envelopeFrom: "a@example.org" };
const PASS: SenderCheck = {
  auth: { spf: "pass", dkim: "none", dmarc: "pass", fromDomain: "example.org", verdict: "pass" },
  isReplyToUnsigned: false,
};
const PARTY: Party = { org: "org", source: CLIENT.clientIp };
const raw = (sizeBytes = 1) => new Uint8Array(sizeBytes);

/** Workers that say what the test has them say. */
function heldWorkers() {
  const workers: { events: WorkerEvents; posted: ToWorker[]; isEnded: boolean }[] = [];
  const start = (events: WorkerEvents) => {
    const worker = { events, posted: [] as ToWorker[], isEnded: false };
    workers.push(worker);
    return {
      post: (message: ToWorker) => void worker.posted.push(message),
      terminate: () => void (worker.isEnded = true),
    };
  };
  const say = (message: FromWorker, worker = workers.at(-1)!) => worker.events.said(message);
  return { workers, start, say };
}

function checkerOf(bounds: Partial<CheckerBounds> = {}, dns?: AskDns) {
  const held = heldWorkers();
  const losses: unknown[] = [];
  const checker = new AuthChecker({
    dns: dns ?? (() => Promise.resolve({ code: "ENOTFOUND" })),
    start: held.start,
    onLoss: (failure) => losses.push(failure),
    now: () => 1_000,
    bounds: { ...CHECKER_BOUNDS, ...bounds },
  });
  const checks = () =>
    held.workers.at(-1)!.posted.filter((message) => message.kind === "check").map(({ id }) => id);
  return { ...held, losses, checker, checks };
}

const error = ({ auth }: SenderCheck) => auth.verdict;

Deno.test("AuthChecker.check() gives the worker the mail, answers its questions, and takes its result", async () => {
  const asked: string[] = [];
  const { checker, say, workers } = checkerOf({}, (name, type) => {
    asked.push(`${type} ${name}`);
    return Promise.resolve({ records: [["x"]] });
  });
  const auth = checker.check(raw(3), CLIENT, PARTY);
  const [posted] = workers[0]!.posted;
  assert.ok(posted?.kind === "check");
  assert.deepEqual([posted.raw.length, posted.client, posted.nowMs], [3, CLIENT, 1_000]);
  say({ kind: "lookup", id: posted.id, question: 7, name: "a.example", type: "TXT" });
  say({ kind: "lookup", id: posted.id, question: 8, name: "A.example", type: "TXT" });
  for (let turns = 0; turns < 10; turns++) await Promise.resolve();
  assert.deepEqual(asked, ["TXT a.example"]);
  const answers = workers[0]!.posted.slice(1);
  assert.deepEqual(answers, [
    { kind: "answer", question: 7, answer: { records: [["x"]] } },
    { kind: "answer", question: 8, answer: { records: [["x"]] } },
  ]);
  say({ kind: "done", id: posted.id, check: PASS });
  assert.deepEqual(await auth, PASS);
  checker.close();
});

Deno.test("AuthChecker.check() lets in as many mails and bytes as there is room for, and one that is larger", async () => {
  const { checker, checks, say } = checkerOf({ underWay: 8, bytes: 10, waiting: 2 });
  const first = checker.check(raw(20), CLIENT, PARTY);
  const small = [checker.check(raw(4), CLIENT, PARTY), checker.check(raw(4), CLIENT, PARTY)];
  assert.deepEqual(checks(), [0]);
  assert.equal(error(await checker.check(raw(), CLIENT, PARTY)), "error", "too many wait");
  say({ kind: "hashed", id: 0 });
  assert.deepEqual(checks(), [0, 1, 2]);
  const last = checker.check(raw(1), CLIENT, PARTY);
  assert.deepEqual(checks(), [0, 1, 2], "one source has a part of the places");
  say({ kind: "done", id: 1, check: PASS });
  assert.deepEqual(checks(), [0, 1, 2, 3]);
  for (const id of [0, 2, 3]) say({ kind: "done", id, check: PASS });
  for (const auth of [first, ...small, last]) assert.deepEqual(await auth, PASS);
  checker.close();
});

Deno.test("AuthChecker.check() has a place for who has none, whoever holds the others", async () => {
  const { checker, checks, say, workers } = checkerOf({ underWay: 8, waiting: 100 });
  const flood = Array.from(
    { length: 60 },
    (_, i) => checker.check(raw(), CLIENT, { org: `org ${i % 3}`, source: `client ${i % 5}` }),
  );
  const held = checks().length;
  assert.ok(held < 8, `${held} of 8 places`);
  const innocent = { org: "another org", source: "another client" };
  const auth = checker.check(raw(), CLIENT, innocent);
  assert.equal(checks().length, held + 1, "it does not wait");
  say({ kind: "done", id: checks().at(-1)!, check: PASS });
  assert.deepEqual(await auth, PASS);
  // One whose places are all taken waits for one of its own turns, not for all that is before it.
  checker.check(raw(2), CLIENT, { org: "org 0", source: "new client" });
  const sizes = () =>
    workers[0]!.posted.flatMap((one) => one.kind === "check" ? one.raw.length : []);
  for (let turns = 0; turns < 30 && !sizes().includes(2); turns++) {
    say({ kind: "done", id: checks()[turns]!, check: PASS });
  }
  assert.ok(sizes().includes(2), "it was let in after at most half of what was there before it");
  checker.close();
  assert.equal((await Promise.all(flood)).length, 60);
});

Deno.test("AuthChecker.check() gives a full line's newcomer the place of who has the most in it", async () => {
  const { checker, checks, say } = checkerOf({ underWay: 2, waiting: 4 });
  const flood = Array.from({ length: 5 }, () => checker.check(raw(), CLIENT, PARTY));
  const innocent = checker.check(raw(), CLIENT, { org: "another org", source: "another" });
  assert.equal(error(await flood[4]!), "error");
  say({ kind: "done", id: checks().at(-1)!, check: PASS });
  assert.deepEqual(await innocent, PASS);
  checker.close();
});

Deno.test("AuthChecker.check() has mails hurry for which others of their group wait", async () => {
  const asked: AbortSignal[] = [];
  const dns: AskDns = (_name, _type, signal) => {
    asked.push(signal);
    return new Promise((resolve) => signal.onabort = () => resolve({ code: "ETIMEOUT" }));
  };
  const { checker, say, workers } = checkerOf({ underWay: 2, hurriedMs: 20 }, dns);
  void checker.check(raw(), CLIENT, PARTY);
  say({ kind: "lookup", id: 0, question: 5, name: "a.example", type: "TXT" });
  await Promise.resolve();
  assert.deepEqual(asked.map(({ aborted }) => aborted), [false]);
  void checker.check(raw(), CLIENT, PARTY);
  const answered = () => workers[0]!.posted.some((one) => one.kind === "answer");
  while (!answered()) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(asked.map(({ aborted }) => aborted), [true]);
  checker.close();
});

Deno.test("AuthChecker.check() waits for a bounded time, in the queue and in the worker", async () => {
  const { checker, say, workers } = checkerOf({ underWay: 1, waitMs: 20, checkMs: 60 });
  const [late, waiting] = [
    checker.check(raw(), CLIENT, PARTY),
    checker.check(raw(), CLIENT, PARTY),
  ];
  say({ kind: "begun", id: 0, fromDomain: "example.org" });
  assert.deepEqual((await waiting).auth, {
    spf: "temperror",
    dkim: "temperror",
    dmarc: "temperror",
    fromDomain: null,
    verdict: "error",
  });
  assert.equal((await late).auth.fromDomain, "example.org");
  // What it still asks for a mail that was given up is answered, so that nothing stays in the worker.
  say({ kind: "lookup", id: 0, question: 1, name: "a.example", type: "TXT" });
  assert.deepEqual(workers[0]!.posted.at(-1), {
    kind: "answer",
    question: 1,
    answer: { code: "ETIMEOUT" },
  });
  say({ kind: "done", id: 0, check: PASS });
  checker.close();
});

Deno.test("AuthChecker ends a worker that says nothing, and tries once more what it had not begun with", async () => {
  const { checker, checks, losses, say, workers } = checkerOf({ silenceMs: 40 });
  const [begun, untouched] = [
    checker.check(raw(), CLIENT, PARTY),
    checker.check(raw(), CLIENT, PARTY),
  ];
  say({ kind: "ready" });
  say({ kind: "begun", id: 0, fromDomain: null });
  const { auth } = await begun;
  assert.deepEqual([auth.dmarc, auth.verdict], ["permerror", "fail"]);
  assert.ok(workers[0]!.posted.some(({ kind }) => kind === "ping"), "it was asked");
  assert.deepEqual([workers.length, workers[0]!.isEnded, losses.length], [2, true, 1]);
  assert.deepEqual(checks(), [2]);
  say({ kind: "ready" });
  say({ kind: "done", id: 2, check: PASS });
  assert.deepEqual(await untouched, PASS);
  // What the lost worker still says is not heard.
  say({ kind: "done", id: 1, check: PASS }, workers[0]);
  checker.close();
});

Deno.test("AuthChecker goes on without a worker that cannot be started, and tries again later", async () => {
  const { checker, losses, say, workers } = checkerOf({ silenceMs: 30 });
  const [first, second] = [
    checker.check(raw(), CLIENT, PARTY),
    checker.check(raw(), CLIENT, PARTY),
  ];
  workers[0]!.events.died(new Error("no modules"));
  assert.deepEqual([error(await first), error(await second)], ["error", "error"]);
  assert.equal(error(await checker.check(raw(), { ...CLIENT, clientIp: null }, PARTY)), "error");
  assert.deepEqual([workers.length, losses.length], [1, 1]);
  await new Promise((resolve) => setTimeout(resolve, 40));
  const third = checker.check(raw(), CLIENT, PARTY);
  say({ kind: "done", id: 2, check: PASS });
  assert.deepEqual(await third, PASS);
  checker.close();
});

Deno.test("AuthChecker.check() tells of a mail that the library failed over, by the error's name alone", async () => {
  const { checker, losses, say } = checkerOf();
  const auth = checker.check(raw(), { ...CLIENT, clientIp: null }, PARTY);
  say({ kind: "failed", id: 0, reason: "TypeError" });
  const { spf, verdict } = (await auth).auth;
  assert.deepEqual([spf, verdict], ["none", "error"]);
  assert.match(String(losses), /could not be checked: TypeError/);
  checker.close();
});

Deno.test("AuthChecker.close() answers what waits, ends the worker, and checks nothing more", async () => {
  const { checker, workers } = checkerOf({ underWay: 1 });
  const auths = [checker.check(raw(), CLIENT, PARTY), checker.check(raw(), CLIENT, PARTY)];
  checker.close();
  checker.close();
  assert.equal(auths.length, 2);
  for (const auth of auths) assert.equal(error(await auth), "error");
  assert.equal(workers[0]!.isEnded, true);
  assert.equal(error(await checker.check(raw(), CLIENT, PARTY)), "error");
  assert.equal(workers.length, 1);
});
