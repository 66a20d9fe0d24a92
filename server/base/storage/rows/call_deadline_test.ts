import assert from "node:assert/strict";
import { CALL_DEADLINE_MS, CallDeadline } from "./call_deadline.ts";

const SECONDS = CALL_DEADLINE_MS / 1000;

function openDeadline() {
  let tick: (() => void) | null = null;
  const told: boolean[] = [];
  const deadline = new CallDeadline({
    startTicker(given) {
      tick = given;
      return () => void (tick = null);
    },
    onSilence: (isSilent) => void told.push(isSilent),
  });
  return {
    deadline,
    told,
    isTicking: () => tick !== null,
    pass(seconds: number) {
      for (let i = 0; i < seconds; i++) tick?.();
    },
  };
}

const REFUSED = { code: "unavailable", retryAfterMs: 1000 };
const never = () => new Promise<never>(() => {});

Deno.test("CallDeadline.within() gives what a call gives, and ticks no longer than calls are under way", async () => {
  const { deadline, isTicking } = openDeadline();
  assert.equal(await deadline.within(() => Promise.resolve(1)), 1);
  await assert.rejects(deadline.within(() => Promise.reject(new Error("broken"))), /broken/);
  assert.equal(isTicking(), false);
});

Deno.test("CallDeadline.within() refuses a call after its seconds, not before", async () => {
  const { deadline, pass, told } = openDeadline();
  const others = setOfAnswers(deadline);
  let refused = false;
  const call = deadline.within(never).catch((error) => {
    refused = true;
    return error;
  });
  // Others are answered: the store is not silent, one call is lost.
  for (let second = 1; second < SECONDS; second++) {
    pass(1);
    await others();
  }
  assert.equal(refused, false);
  assert.deepEqual(told, []);
  pass(1);
  assert.equal((await call).code, "unavailable");
  assert.equal(await deadline.within(() => Promise.resolve("goes on")), "goes on");
});

function setOfAnswers(deadline: CallDeadline): () => Promise<void> {
  return () => deadline.within(() => Promise.resolve());
}

Deno.test("CallDeadline.within() refuses at once while the store is silent, but for one call a second", async () => {
  const { deadline, pass } = openDeadline();
  let asked = 0;
  const ask = () =>
    deadline.within(() => {
      asked++;
      return never();
    });
  const first = assert.rejects(ask(), REFUSED);
  pass(SECONDS);
  await first;
  for (let i = 0; i < 5; i++) await assert.rejects(ask(), REFUSED);
  assert.equal(asked, 1);
  pass(1);
  const probe = assert.rejects(ask(), REFUSED);
  for (let i = 0; i < 5; i++) await assert.rejects(ask(), REFUSED);
  assert.equal(asked, 2);
  pass(2); // a probe gets two seconds, not ten
  await probe;
});

Deno.test("CallDeadline.within() lets ever fewer calls through to a store that is silent for long", async () => {
  const { deadline, pass } = openDeadline();
  const asked: PromiseWithResolvers<string>[] = [];
  const ask = () =>
    deadline.within(() => {
      asked.push(Promise.withResolvers<string>());
      return asked.at(-1)!.promise;
    }).catch(() => {});
  async function askedWithin(seconds: number): Promise<number> {
    const before = asked.length;
    for (let second = 0; second < seconds; second++) {
      void ask();
      pass(1);
      await Promise.resolve();
    }
    return asked.length - before;
  }
  await askedWithin(SECONDS);
  const ofMinutes = [await askedWithin(60), await askedWithin(60)];
  assert.ok(ofMinutes[0]! >= 12 && ofMinutes[0]! > ofMinutes[1]!, `${ofMinutes}`);
  await askedWithin(24 * 3600);
  assert.ok(asked.length < 300, `${asked.length} wait for an answer`);
  // Whatever is answered begins it all again.
  for (const { resolve } of asked) resolve("back");
  await Promise.resolve();
  assert.equal(await deadline.within(() => Promise.resolve("at once")), "at once");
  await askedWithin(SECONDS);
  assert.ok(await askedWithin(60) >= 12);
});

Deno.test("CallDeadline.within() ends the silence with any answer, a late one too", async () => {
  const { deadline, pass, isTicking, told } = openDeadline();
  const held = Promise.withResolvers<string>();
  const late = assert.rejects(deadline.within(() => held.promise), REFUSED);
  pass(SECONDS);
  await late;
  assert.equal(isTicking(), true);
  held.resolve("late");
  await held.promise;
  await Promise.resolve();
  assert.equal(await deadline.within(() => Promise.resolve("back")), "back");
  assert.equal(await deadline.within(() => Promise.resolve("again")), "again");
  assert.deepEqual(told, [true, false]);
  assert.equal(isTicking(), false);
});

Deno.test("CallDeadline gives reads beside commits that wait for a lock a second or two, and refuses none at once", async () => {
  const { deadline, pass } = openDeadline();
  const held = Promise.withResolvers<string>();
  const commit = deadline.attend(() => held.promise);
  pass(SECONDS + 5);
  const answers = [1, 2, 3].map((n) => deadline.within(() => Promise.resolve(n)));
  assert.deepEqual(await Promise.all(answers), [1, 2, 3]);
  pass(SECONDS);
  const refused = assert.rejects(deadline.within(never), REFUSED);
  pass(2);
  await refused;
  await assert.rejects(deadline.within(never), REFUSED);
  held.resolve("stored");
  assert.equal(await commit, "stored");
});

Deno.test("CallDeadline refuses no read for a commit with a deadline that waits for a lock", async () => {
  const { deadline, pass, told } = openDeadline();
  const commit = assert.rejects(deadline.withinCommit(never), REFUSED);
  pass(SECONDS - 1);
  assert.deepEqual(told, [true]);
  const answers = [1, 2, 3].map((n) => deadline.within(() => Promise.resolve(n)));
  assert.deepEqual(await Promise.all(answers), [1, 2, 3]);
  pass(1);
  await commit;
});
