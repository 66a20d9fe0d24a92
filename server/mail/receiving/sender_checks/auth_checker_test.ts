import assert from "node:assert/strict";
import { heldWorkers, settle } from "../../../../tests/support/held_workers.ts";
import { AuthChecker, type CheckerBounds } from "./auth_checker.ts";
import type { AuthWord, DnsWord, MailToCheck, SenderCheck } from "./auth_messages.ts";
import type { AskDns } from "../../../base/outside/dns_client.ts";
import type { Party } from "./next_check.ts";

const CLIENT = { clientIp: "192.0.2.1", helo: null, envelopeFrom: "a@example.org" };
const PASS: SenderCheck = {
  auth: { spf: "pass", dkim: "none", dmarc: "pass", fromDomain: "example.org", verdict: "pass" },
  isReplyToUnsigned: false,
};
const PARTY: Party = { org: "org", source: CLIENT.clientIp };
const INNOCENT: Party = { org: "another org", source: "another client" };
const NOT_FOUND: AskDns = () => Promise.resolve({ code: "ENOTFOUND" });

function checkerOf(bounds: Partial<CheckerBounds> = {}, dns = NOT_FOUND) {
  const held = heldWorkers<MailToCheck, SenderCheck, AuthWord, DnsWord>();
  const checker = new AuthChecker({ dns, ...held.services, now: () => 1_000, bounds });
  const check = (sizeBytes = 1, party = PARTY, client = CLIENT) =>
    checker.check(new Uint8Array(sizeBytes), client, party);
  /** What of the worker's jobs there is after all that goes on by itself. */
  const checks = async () => {
    await settle();
    return held.jobs().map(({ id }) => id);
  };
  const ready = async () => {
    await settle();
    held.ready();
  };
  const done = (id: number) => held.say({ id, result: PASS });
  const lookUp = (id: number, question: number, name = "a.example") =>
    held.say({ id, word: { kind: "lookup", question, name, type: "TXT" } });
  const answers = (worker = 0) =>
    held.workers[worker]!.posted.flatMap((one) =>
      typeof one === "object" && "word" in one ? [one.word] : []
    );
  return { ...held, checker, check, checks, ready, done, lookUp, answers };
}

const verdict = ({ auth }: SenderCheck) => auth.verdict;

Deno.test("AuthChecker.check() gives the worker the mail, answers its questions, and takes its result", async () => {
  const asked: string[] = [];
  const { checker, check, jobs, ready, lookUp, answers, done } = checkerOf({}, (name, type) => {
    asked.push(`${type} ${name}`);
    return Promise.resolve({ records: [["x"]] });
  });
  const auth = check(3);
  await ready();
  const { raw, ...given } = jobs()[0]!.job;
  assert.deepEqual([raw.length, given], [3, { client: CLIENT, nowMs: 1_000, trustedSealers: [] }]);
  lookUp(0, 7, "a.example");
  lookUp(0, 8, "A.example");
  await settle();
  assert.deepEqual(asked, ["TXT a.example"]);
  const answer = { records: [["x"]] };
  assert.deepEqual(answers(), [{ question: 7, answer }, { question: 8, answer }]);
  done(0);
  assert.deepEqual(await auth, PASS);
  checker.close();
});

Deno.test("AuthChecker.check() lets in as many mails and bytes as there is room for, and one that is larger", async () => {
  const { checker, check, checks, ready, say, done } = checkerOf({
    underWay: 8,
    bytes: 10,
    waiting: 2,
  });
  const first = check(20);
  const small = [check(4), check(4)];
  await ready();
  assert.deepEqual(await checks(), [0]);
  assert.equal(verdict(await check()), "error", "too many wait");
  say({ id: 0, word: { kind: "hashed" } });
  assert.deepEqual(await checks(), [0, 1, 2]);
  const last = check();
  assert.deepEqual(await checks(), [0, 1, 2], "one source has a part of the places");
  done(1);
  assert.deepEqual(await checks(), [0, 1, 2, 3]);
  for (const id of [0, 2, 3]) done(id);
  for (const auth of [first, ...small, last]) assert.deepEqual(await auth, PASS);
  checker.close();
});

Deno.test("AuthChecker.check() has a place for who has none, whoever holds the others", async () => {
  const { checker, check, checks, jobs, ready, done } = checkerOf({ underWay: 8, waiting: 100 });
  const flood = Array.from(
    { length: 60 },
    (_, i) => check(1, { org: `org ${i % 3}`, source: `client ${i % 5}` }),
  );
  await ready();
  const { length } = await checks();
  assert.ok(length < 8, `${length} of 8 places`);
  const auth = check(1, INNOCENT);
  assert.equal((await checks()).length, length + 1, "it does not wait");
  done((await checks()).at(-1)!);
  assert.deepEqual(await auth, PASS);
  // One whose places are all taken waits for one of its own turns, not for all that is before it.
  check(2, { org: "org 0", source: "new client" });
  const isIn = () => jobs().some(({ job: { raw } }) => raw.length === 2);
  for (let turns = 0; turns < 30 && !isIn(); turns++) done((await checks())[turns]!);
  assert.ok(isIn(), "it was let in after at most half of what was there before it");
  checker.close();
  assert.equal((await Promise.all(flood)).length, 60);
});

Deno.test("AuthChecker.check() gives a full line's newcomer the place of who has the most in it", async () => {
  const { checker, check, checks, ready, done } = checkerOf({ underWay: 2, waiting: 4 });
  const flood = Array.from({ length: 5 }, () => check());
  const innocent = check(1, INNOCENT);
  await ready();
  assert.equal(verdict(await flood[4]!), "error");
  done((await checks()).at(-1)!);
  assert.deepEqual(await innocent, PASS);
  checker.close();
});

Deno.test("AuthChecker.check() has mails hurry for which others of their group wait", async () => {
  const asked: AbortSignal[] = [];
  const dns: AskDns = (_name, _type, signal) => {
    asked.push(signal);
    return new Promise((resolve) => signal.onabort = () => resolve({ code: "ETIMEOUT" }));
  };
  const { checker, check, ready, lookUp, answers } = checkerOf({ underWay: 2, hurriedMs: 20 }, dns);
  void check();
  await ready();
  lookUp(0, 5);
  await settle();
  assert.deepEqual(asked.map(({ aborted }) => aborted), [false]);
  void check();
  while (answers().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(asked.map(({ aborted }) => aborted), [true]);
  checker.close();
});

Deno.test("AuthChecker.check() waits for a bounded time, in the queue and in the worker", async () => {
  const { checker, check, ready, say, pass, done, lookUp, answers, workers } = checkerOf({
    underWay: 1,
    waitMs: 20,
    checkMs: 1_000,
  });
  const [late, waiting] = [check(), check()];
  await ready();
  say({ id: 0, word: { kind: "begun", fromDomain: "example.org" } });
  assert.deepEqual((await waiting).auth, {
    spf: "temperror",
    dkim: "temperror",
    dmarc: "temperror",
    fromDomain: null,
    verdict: "error",
  });
  pass(1_250);
  assert.equal((await late).auth.fromDomain, "example.org");
  // What it still asks for a mail that was given up is answered, so that nothing stays in the worker.
  lookUp(0, 1);
  assert.deepEqual(answers(), [{ question: 1, answer: { code: "ETIMEOUT" } }]);
  done(0);
  assert.equal(workers[0]!.isTerminated, false);
  checker.close();
});

Deno.test("AuthChecker ends a worker that says nothing, and tries once more what it had not begun with", async () => {
  const { checker, check, checks, losses, ready, say, pass, done, workers } = checkerOf();
  const [begun, untouched] = [check(), check()];
  await ready();
  say({ id: 0, word: { kind: "begun", fromDomain: null } });
  pass(10_000);
  assert.ok(workers[0]!.posted.includes("ping"), "it was asked");
  assert.deepEqual(losses, []);
  pass(250);
  const { auth } = await begun;
  assert.deepEqual([auth.dmarc, auth.verdict], ["permerror", "fail"]);
  await ready();
  assert.deepEqual([workers.length, workers[0]!.isTerminated, losses.length], [2, true, 1]);
  assert.deepEqual(await checks(), [2]);
  say({ id: 2, result: { ...PASS, isReplyToUnsigned: true } }, 0); // the lost one is ignored
  pass(10_250);
  assert.equal(verdict(await untouched), "error", "it is tried twice");
  assert.equal(losses.length, 2);
  const next = check();
  await ready();
  done(3);
  assert.deepEqual(await next, PASS);
  checker.close();
});

Deno.test("AuthChecker gives no worker what DNS says to the questions of another", async () => {
  const dns: AskDns = (_name, _type, signal) =>
    new Promise((resolve) => signal.onabort = () => resolve({ code: "ETIMEOUT" }));
  const { checker, check, ready, say, die, lookUp, answers, done } = checkerOf({}, dns);
  const [asking, untouched] = [check(), check()];
  await ready();
  say({ id: 0, word: { kind: "begun", fromDomain: "example.org" } });
  lookUp(0, 0);
  die(new Error("gone"));
  assert.equal(verdict(await asking), "error");
  await ready();
  await settle();
  assert.deepEqual(answers(1), [], "its own first question has this number too");
  done(2);
  assert.deepEqual(await untouched, PASS);
  checker.close();
});

Deno.test("AuthChecker goes on without a worker that cannot be started, and tries again later", async () => {
  const { checker, check, losses, ready, die, done, pass, workers } = checkerOf({ underWay: 2 });
  const checks = [check(), check()]; // there is no room for the second one
  await settle();
  die(new Error("no modules"));
  assert.deepEqual((await Promise.all(checks)).map(verdict), ["error", "error"]);
  assert.equal(verdict(await check()), "error");
  assert.deepEqual([workers.length, losses.length], [1, 1]);
  pass(10_000);
  const third = check();
  await ready();
  done(1);
  assert.deepEqual(await third, PASS);
  checker.close();
});

Deno.test("AuthChecker.check() tells of a mail that the library failed over, by the error's name alone", async () => {
  const { checker, losses, ready, say } = checkerOf();
  const auth = checker.check(new Uint8Array(1), { ...CLIENT, clientIp: null }, PARTY);
  await ready();
  say({ id: 0, failed: "TypeError" });
  const { spf, verdict } = (await auth).auth;
  assert.deepEqual([spf, verdict], ["none", "error"]);
  assert.match(String(losses), /could not be checked: TypeError/);
  checker.close();
});

Deno.test("AuthChecker.close() answers what waits, ends the worker, and checks nothing more", async () => {
  const { checker, check, ready, workers } = checkerOf({ underWay: 2 });
  const auths = [check(), check()];
  await ready();
  checker.close();
  checker.close();
  assert.deepEqual((await Promise.all(auths)).map(verdict), ["error", "error"]);
  assert.equal(workers[0]!.isTerminated, true);
  assert.equal(verdict(await check()), "error");
  assert.equal(workers.length, 1);
});
