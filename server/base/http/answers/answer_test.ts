import assert from "node:assert/strict";
import { ERROR_STATUS, type ErrorCode, rateLimited, RelayError } from "../../errors.ts";
import { answerError, answerFailure, answerJson } from "./answer.ts";

const LOG_NOTHING = () => assert.fail("nothing is to be logged");

Deno.test("answerJson() sends a value with its status and further headers", async () => {
  const answer = answerJson({ a: [1, null] }, 201, { "Cache-Control": "no-store" });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(await answer.text(), '{"a":[1,null]}');
});

Deno.test("answerError() has every code with its status and exactly the shape of the contract", async () => {
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[];
  const unlimited = codes.filter((code) => ERROR_STATUS[code] !== 429);
  assert.ok(unlimited.length >= 20, String(unlimited.length));
  for (const code of unlimited) {
    const answer = answerError(new RelayError(code, "what was wrong"));
    assert.equal(answer.status, ERROR_STATUS[code]);
    assert.deepEqual(await answer.json(), { error: { code, message: "what was wrong" } });
    assert.equal(answer.headers.get("retry-after"), null);
    assert.equal(answer.headers.get("connection"), null);
  }
});

Deno.test("answerError() tells a 429 the milliseconds and the seconds, rounded up", async () => {
  for (
    const [waitMs, toldMs, seconds] of [[1500, 1500, "2"], [2000, 2000, "2"], [0, 1, "1"], [
      0.2,
      1,
      "1",
    ], [-5, 1, "1"]] as const
  ) {
    const answer = answerError(rateLimited("slower", waitMs));
    assert.equal(answer.headers.get("retry-after"), seconds);
    assert.deepEqual(await answer.json(), {
      error: { code: "rate_limited", message: "slower" },
      retry_after_ms: toldMs,
    });
  }
  const bare = await answerError(new RelayError("rate_limited", "slower")).json();
  assert.equal(bare.retry_after_ms, 1);
});

Deno.test("answerError() gives a 503 and a 409 Retry-After alone, a 405 Allow, an unread body Connection", async () => {
  const full = answerError(new RelayError("unavailable", "full", { retryAfterMs: 61_000 }));
  assert.equal(full.headers.get("retry-after"), "61");
  assert.deepEqual(await full.json(), { error: { code: "unavailable", message: "full" } });
  const held = answerError(
    new RelayError("idempotency_in_progress", "wait", { retryAfterMs: 1_500 }),
  );
  assert.equal(held.headers.get("retry-after"), "2");
  assert.deepEqual(await held.json(), {
    error: { code: "idempotency_in_progress", message: "wait" },
  });
  const wrong = answerError(new RelayError("method_not_allowed", "no", { allow: "GET, HEAD" }));
  assert.equal(wrong.headers.get("allow"), "GET, HEAD");
  const cut = answerError(new RelayError("request_timeout", "late", { closeConnection: true }));
  assert.equal(cut.headers.get("connection"), "close");
});

Deno.test("answerFailure() passes a refusal on and logs nothing", async () => {
  const answer = answerFailure(new RelayError("banned", "you are banned"), LOG_NOTHING, "r-1");
  assert.equal(answer.status, 403);
  assert.equal((await answer.json()).error.code, "banned");
});

Deno.test("answerFailure() tells of the unexpected nothing but the request id", async () => {
  for (const failure of [new TypeError("secret of kv"), "secret of kv", undefined, null, {}]) {
    const lines: [string, unknown][] = [];
    const log = (event: string, fields: unknown) => void lines.push([event, fields]);
    const answer = answerFailure(failure, log, "r-7");
    assert.equal(answer.status, 500);
    const { error, ...rest } = await answer.json();
    assert.deepEqual(rest, {});
    assert.equal(error.code, "internal");
    assert.match(error.message, /r-7/);
    assert.ok(!error.message.includes("secret"));
    assert.equal(lines.length, 1);
    assert.equal(lines[0]![0], "request_failed");
    assert.equal((lines[0]![1] as { request_id: string }).request_id, "r-7");
  }
});

Deno.test("answerFailure() logs what caused an internal refusal", async () => {
  const lines: unknown[] = [];
  const failure = new RelayError("internal", "the database does not answer", {
    cause: new Error("connection lost"),
  });
  const answer = answerFailure(failure, (_event, fields) => void lines.push(fields), "r-2");
  assert.equal((await answer.json()).error.message, "the database does not answer");
  assert.equal((lines[0] as { message: string }).message, "connection lost");
});
