import assert from "node:assert/strict";
import { RelayError } from "../../base/errors.ts";
import { ATTEMPTS, SignInAttempts } from "./sign_in_attempts.ts";

const isLimited = (error: unknown) =>
  error instanceof RelayError && error.code === "rate_limited" && error.retryAfterMs! >= 1;

Deno.test("SignInAttempts refuses a client after ten wrong tokens, until the first of them is old", () => {
  let nowMs = 1_000;
  const attempts = new SignInAttempts(() => nowMs, "wait");
  for (let i = 0; i < ATTEMPTS.limit; i++) attempts.failed("a");
  assert.throws(() => attempts.failed("a"), isLimited);
  attempts.failed("b");
  nowMs += ATTEMPTS.windowMs - 1;
  assert.throws(() => attempts.failed("a"), isLimited);
  nowMs += 1;
  attempts.failed("a");
});

Deno.test("SignInAttempts remembers a bounded number of clients", () => {
  const attempts = new SignInAttempts(() => 1_000, "wait");
  for (let i = 0; i < ATTEMPTS.limit; i++) attempts.failed("first");
  for (let i = 0; i < 9_999; i++) attempts.failed(`client ${i}`);
  assert.throws(() => attempts.failed("first"), isLimited);
  attempts.failed("one more");
  attempts.failed("first");
});
