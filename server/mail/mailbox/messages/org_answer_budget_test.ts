import assert from "node:assert/strict";
import type { Context } from "hono";
import type { HttpEnv } from "../../../base/http/routes/route.ts";
import { AnswerBudget } from "../../../base/http/answers/answer_budget.ts";
import { MAIL_ANSWERS, OrgAnswerBudget } from "./org_answer_budget.ts";

const MIB = 1024 * 1024;

function openRoom() {
  const answers = new AnswerBudget({ bounds: MAIL_ANSWERS, startTicker: () => () => {} });
  const holds: { end(): void }[] = [];
  const c = { set: (_name: string, reservation: { end(): void }) => holds.push(reservation) };
  const answerBudget = new OrgAnswerBudget(answers);
  return {
    holds,
    answers,
    reserve: (orgId: string, bytes: number) =>
      answerBudget.reserve(c as unknown as Context<HttpEnv>, orgId, bytes),
  };
}

Deno.test("OrgAnswerBudget gives an org its share and no more, and leaves room for others", () => {
  const { reserve, holds } = openRoom();
  reserve("org_a", 25 * MIB);
  assert.throws(() => reserve("org_a", 8 * MIB), /as many large answers open/);
  reserve("org_b", 25 * MIB);
  holds[0]!.end();
  reserve("org_a", 25 * MIB);
  reserve("org_c", 40 * MIB); // one alone may be larger than a share
  assert.equal(holds.length, 4);
});

Deno.test("OrgAnswerBudget counts small answers for nobody, and what is not taken not at all", () => {
  const { reserve, holds, answers } = openRoom();
  for (let i = 0; i < 1_000; i++) reserve("org_a", 64 * 1024);
  assert.equal(holds.length, 0);
  for (const orgId of ["org_a", "org_b", "org_c"]) reserve(orgId, 30 * MIB);
  assert.throws(() => reserve("org_d", 30 * MIB), /as many large answers as it has room for/);
  assert.equal(answers.sizeBytes, 90 * MIB);
  for (const one of holds) one.end();
  reserve("org_d", 30 * MIB);
  assert.equal(answers.sizeBytes, 30 * MIB);
});
