import assert from "node:assert/strict";
import { AnswerBudget } from "./answer_budget.ts";

const KIB = 1024;

/** Answers with a clock that the test moves, and a ticker that it ticks. */
function rig(bounds: { totalBytes: number; anybodyBytes: number }) {
  const ticks = new Set<() => void>();
  const clock = { nowMs: 0 };
  const answers = new AnswerBudget({
    bounds: { ...bounds, idleMs: 30_000 },
    now: () => clock.nowMs,
    startTicker(tick) {
      ticks.add(tick);
      return () => ticks.delete(tick);
    },
  });
  return {
    answers,
    ticks,
    after(ms: number) {
      clock.nowMs += ms;
      for (const tick of [...ticks]) tick();
    },
  };
}

Deno.test("AnswerBudget gives an answer in pieces as they are taken, then its room is free", async () => {
  const { answers, ticks } = rig({ totalBytes: 300 * KIB, anybodyBytes: 0 });
  const bytes = crypto.getRandomValues(new Uint8Array(60 * KIB));
  const whole = new Uint8Array(200 * KIB);
  for (let at = 0; at < whole.length; at += bytes.length) {
    whole.set(bytes.subarray(0, whole.length - at), at);
  }
  let ended = 0;
  const reader = answers.reserve(whole.length, "agent", () => ended++).stream(whole).getReader();
  const taken: number[] = [];
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    assert.ok(piece.value.length <= 64 * KIB);
    taken.push(...piece.value);
    assert.equal(answers.sizeBytes, taken.length < whole.length ? whole.length : 0);
  }
  assert.deepEqual(new Uint8Array(taken), whole);
  assert.deepEqual([ended, answers.sizeBytes, ticks.size], [1, 0, 0]);
});

Deno.test("AnswerBudget refuses what is beyond its bytes, before anything is made of it", () => {
  const { answers } = rig({ totalBytes: 300 * KIB, anybodyBytes: 100 * KIB });
  const first = answers.reserve(200 * KIB, "agent");
  assert.throws(() => answers.reserve(101 * KIB, "agent"), {
    code: "unavailable",
    retryAfterMs: 1000,
  });
  // What anybody may ask for leaves room for agents.
  const open = answers.reserve(100 * KIB, "anybody");
  assert.throws(() => answers.reserve(1, "anybody"), { code: "unavailable" });
  first.end();
  first.end();
  assert.throws(() => answers.reserve(1, "anybody"), { code: "unavailable" });
  answers.reserve(200 * KIB, "agent").end();
  open.end();
  assert.equal(answers.sizeBytes, 0);
  // One that is larger than the whole bound is given while nothing else is held.
  answers.reserve(400 * KIB, "agent").end();
});

Deno.test("AnswerBudget gives up an answer of which nothing is taken for 30 s, no other", async () => {
  const { answers, after, ticks } = rig({ totalBytes: 1_000 * KIB, anybodyBytes: 0 });
  let ended = 0;
  const idle = answers.reserve(300 * KIB, "agent", () => ended++).stream(new Uint8Array(300 * KIB));
  const slow = answers.reserve(300 * KIB, "agent").stream(new Uint8Array(300 * KIB)).getReader();
  const idleReader = idle.getReader();
  await idleReader.read();
  for (let i = 0; i < 2; i++) {
    await slow.read();
    after(20_000);
  }
  assert.deepEqual([ended, answers.sizeBytes], [1, 300 * KIB]);
  await assert.rejects(idleReader.read(), { name: "NotTaken" });
  assert.equal((await slow.read()).done, false);
  await slow.cancel();
  assert.deepEqual([answers.sizeBytes, ticks.size], [0, 0]);
});

Deno.test("AnswerBudget gives up an answer under way for over 30 s where its room is needed", async () => {
  const { answers, after } = rig({ totalBytes: 300 * KIB, anybodyBytes: 0 });
  const slow = answers.reserve(250 * KIB, "agent").stream(new Uint8Array(250 * KIB)).getReader();
  await slow.read();
  after(20_000);
  await slow.read();
  assert.throws(() => answers.reserve(100 * KIB, "agent"), { code: "unavailable" });
  after(10_000);
  await slow.read(); // a peer that takes a little now and then is not idle
  answers.reserve(50 * KIB, "agent").end();
  assert.equal((await slow.read()).done, false);
  const next = answers.reserve(250 * KIB, "agent").stream(new Uint8Array(250 * KIB));
  assert.equal(answers.sizeBytes, 250 * KIB);
  await next.cancel();
});
