import assert from "node:assert/strict";
import type { Context } from "hono";
import type { HttpEnv } from "../../http/route.ts";
import { AnswersInHand } from "../../http/answers_in_hand.ts";
import { AnswerRoom, MAIL_ANSWERS } from "./answer_room.ts";

const MIB = 1024 * 1024;

function openRoom() {
  const answers = new AnswersInHand({ bounds: MAIL_ANSWERS, startTicker: () => () => {} });
  const holds: { end(): void }[] = [];
  const c = { set: (_name: string, hold: { end(): void }) => holds.push(hold) };
  const room = new AnswerRoom(answers);
  return {
    holds,
    answers,
    hold: (orgId: string, bytes: number) =>
      room.hold(c as unknown as Context<HttpEnv>, orgId, bytes),
  };
}

Deno.test("AnswerRoom gives an org its share and no more, and leaves room for others", () => {
  const { hold, holds } = openRoom();
  hold("org_a", 25 * MIB);
  assert.throws(() => hold("org_a", 8 * MIB), /as many large answers open/);
  hold("org_b", 25 * MIB);
  holds[0]!.end();
  hold("org_a", 25 * MIB);
  hold("org_c", 40 * MIB); // one alone may be larger than a share
  assert.equal(holds.length, 4);
});

Deno.test("AnswerRoom counts small answers for nobody, and what is not taken not at all", () => {
  const { hold, holds, answers } = openRoom();
  for (let i = 0; i < 1_000; i++) hold("org_a", 64 * 1024);
  assert.equal(holds.length, 0);
  for (const orgId of ["org_a", "org_b", "org_c"]) hold(orgId, 30 * MIB);
  assert.throws(() => hold("org_d", 30 * MIB), /as many large answers as it has room for/);
  assert.equal(answers.sizeBytes, 90 * MIB);
  for (const one of holds) one.end();
  hold("org_d", 30 * MIB);
  assert.equal(answers.sizeBytes, 30 * MIB);
});
