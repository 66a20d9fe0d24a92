import assert from "node:assert/strict";
import { RelayError } from "../../errors.ts";
import { ATTEMPTS, SignInAttempts } from "./sign_in_attempts.ts";

const isLimited = (error: unknown) =>
  error instanceof RelayError && error.code === "rate_limited" && error.retryAfterMs! >= 1;

Deno.test("SignInAttempts refuses a client after ten attempts, until the first of them is old", () => {
  let nowMs = 1_000;
  const attempts = new SignInAttempts(() => nowMs);
  for (let i = 0; i < ATTEMPTS.limit; i++) attempts.begin("a");
  assert.throws(() => attempts.begin("a"), isLimited);
  attempts.begin("b");
  nowMs += ATTEMPTS.windowMs - 1;
  assert.throws(() => attempts.begin("a"), isLimited);
  nowMs += 1;
  attempts.begin("a");
});

Deno.test("SignInAttempts forgets a client's attempts when it signs in", () => {
  const attempts = new SignInAttempts(() => 1_000);
  for (let i = 1; i < ATTEMPTS.limit; i++) attempts.begin("a");
  attempts.succeeded("a");
  for (let i = 0; i < ATTEMPTS.limit; i++) attempts.begin("a");
  assert.throws(() => attempts.begin("a"), isLimited);
});

Deno.test("SignInAttempts remembers a bounded number of clients", () => {
  const attempts = new SignInAttempts(() => 1_000);
  for (let i = 0; i < ATTEMPTS.limit; i++) attempts.begin("first");
  for (let i = 0; i < 9_999; i++) attempts.begin(`client ${i}`);
  assert.throws(() => attempts.begin("first"), isLimited);
  attempts.begin("one more");
  attempts.begin("first");
});
