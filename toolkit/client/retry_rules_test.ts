import assert from "node:assert/strict";
import { AnswerError } from "./answer_error.ts";
import { NetworkError } from "./network_error.ts";
import { RefusalError } from "./refusal_error.ts";
import { backoffMs, isPassing } from "./retry_rules.ts";

const refused = (status: number, code: string, retryAfterMs?: number) =>
  new RefusalError(code, "no", { status, retryAfterMs, requestId: undefined });
const answered = (status: number, retryAfterMs?: number) =>
  new AnswerError("not_of_the_contract", status, "no", retryAfterMs);
const noBytes = (sizeBytes: number) => new Uint8Array(sizeBytes);
const fullBytes = (sizeBytes: number) => new Uint8Array(sizeBytes).fill(255);

Deno.test("isPassing() tells what may go better later", () => {
  const passing = [
    new NetworkError("unreachable", "no"),
    new NetworkError("timeout", "no"),
    refused(408, "request_timeout"),
    refused(429, "rate_limited", 1),
    refused(500, "internal"),
    refused(503, "unavailable"),
    answered(500),
    answered(502),
    answered(504),
    answered(522),
  ];
  for (const failure of passing) assert.equal(isPassing(failure), true, failure.message);
  const lasting = [
    refused(400, "invalid_json"),
    refused(401, "invalid_signature"),
    refused(403, "banned"),
    refused(404, "not_found"),
    refused(409, "handle_taken"),
    refused(503, "mail_disabled"),
    refused(503, "google_signin_disabled"),
    answered(404),
    answered(501),
    new AnswerError("malformed_answer", 500, "no"),
    new AnswerError("too_large", 200, "no"),
    new AnswerError("redirected", 302, "no"),
  ];
  for (const failure of lasting) assert.equal(isPassing(failure), false, failure.message);
});

Deno.test("mayHaveHappened is false for a refusal that did nothing, and true where nobody knows", () => {
  assert.equal(refused(429, "rate_limited", 1).mayHaveHappened, false);
  assert.equal(refused(503, "mail_disabled").mayHaveHappened, false);
  assert.equal(refused(503, "unavailable").mayHaveHappened, true);
  assert.equal(refused(500, "internal").mayHaveHappened, true);
  assert.equal(answered(502).mayHaveHappened, true);
  assert.equal(new NetworkError("cut", "no").mayHaveHappened, true);
  assert.equal(new AnswerError("redirected", 302, "no").mayHaveHappened, false);
});

Deno.test("backoffMs() waits as long as it was told", () => {
  assert.equal(backoffMs(refused(429, "rate_limited", 700), 9, fullBytes), 700);
  assert.equal(backoffMs(refused(503, "unavailable", 4_000), 1, fullBytes), 4_000);
  assert.equal(backoffMs(answered(503, 5_000), 1, fullBytes), 5_000);
});

Deno.test("backoffMs() waits a moment even where it was told not to", () => {
  for (const told of [0, 1, 99, 100]) {
    assert.equal(backoffMs(refused(429, "rate_limited", told), 1, noBytes), 100);
    assert.equal(backoffMs(answered(503, told), 1_000, noBytes), 100);
  }
});

Deno.test("backoffMs() doubles up to ten seconds, half of it by chance", () => {
  const failure = new NetworkError("unreachable", "no");
  const delays = (random: (sizeBytes: number) => Uint8Array) =>
    [1, 2, 3, 6, 7, 1_000].map((tries) => backoffMs(failure, tries, random));
  assert.deepEqual(delays(noBytes), [125, 250, 500, 4_000, 5_000, 5_000]);
  assert.deepEqual(delays(fullBytes), [250, 500, 1_000, 8_000, 10_000, 10_000]);
});
