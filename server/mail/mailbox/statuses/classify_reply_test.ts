import assert from "node:assert/strict";
import type { RefusalStage } from "../../../base/mailer/mailer.ts";
import { detailOf, isHardBounce, replyDetailsOf } from "./classify_reply.ts";

Deno.test("isHardBounce() knows 5.1.x, 5.2.1, and a bare 550, 551 or 553 at RCPT", () => {
  const cases: [number, string | null, RefusalStage | null, boolean][] = [
    [550, "5.1.1", "recipient", true],
    [550, "5.1.1", "content", true],
    [550, "5.1.10", "content", true],
    [554, "5.2.1", "recipient", true],
    [550, null, "recipient", true],
    [551, null, "recipient", true],
    [553, null, "recipient", true],
    [552, null, "recipient", false],
    [554, null, "recipient", false],
    [550, null, "content", false],
    [550, null, null, false],
    [550, "5.7.1", "recipient", false],
    [550, "5.2.2", "recipient", false],
    [550, "5.2.10", "recipient", false],
    [550, "5.10.1", "recipient", false],
    [550, "4.1.1", "recipient", false],
  ];
  assert.equal(cases.length, 16);
  for (const [smtpCode, enhancedCode, stage, expected] of cases) {
    const what = `${smtpCode} ${enhancedCode} at ${stage}`;
    assert.equal(isHardBounce({ smtpCode, enhancedCode }, stage), expected, what);
  }
});

Deno.test("replyDetailsOf() keeps codes as they were, and at most 200 clean characters", () => {
  const reply = { code: 550, enhancedCode: "5.1.1", text: "no\r\nsuch \u202euser\u0000 here" };
  assert.deepEqual(replyDetailsOf(reply), {
    smtpCode: 550,
    enhancedCode: "5.1.1",
    detail: "no such user here",
  });
  assert.equal(detailOf(""), null);
  assert.equal(detailOf("\u200b \ud800"), null);
  assert.equal(detailOf("x".repeat(200)), "x".repeat(200));
  assert.equal(detailOf("x".repeat(1_000_000)), "x".repeat(200));
  assert.equal(detailOf(`${"x".repeat(199)}\u{1f600}`), "x".repeat(199));
  assert.equal(detailOf(`${"x".repeat(198)}\u{1f600}`), `${"x".repeat(198)}\u{1f600}`);
});
