/** Answers of the relay as tests read them, and what every refusal must look like. */
import assert from "node:assert/strict";
import { ERROR_STATUS, type ErrorCode } from "../../server/base/errors.ts";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; undefined where it is empty or not JSON. */
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  json: any;
}

/** Sends a request and reads its answer whole. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  return readAnswer(response.status, response.headers, await response.text());
}

export function readAnswer(status: number, headers: Headers, text: string): Answer {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status, headers, text, json };
}

/** Asserts that a request was accepted, and shows the refusal if it was not. */
export function assertStatus(answer: Answer, status: number): void {
  assert.equal(answer.status, status, answer.text.slice(0, 300));
  assert.notEqual(answer.headers.get("x-request-id"), null);
}

/**
 * Asserts a refusal in exactly the contract's shape: its code, the code's status, a message, and
 * for a 429 the wait in body and header.
 * @param message what the message must name
 */
export function assertRefused(answer: Answer, code: ErrorCode, message?: RegExp): void {
  const told = `${answer.status} ${answer.text.slice(0, 300)}`;
  assert.equal(answer.json?.error?.code, code, told);
  assertErrorShape(answer);
  if (message !== undefined) assert.match(answer.json.error.message, message);
}

/** Asserts that an answer is an error of the contract, whichever. @returns its code */
export function assertErrorShape(answer: Answer): ErrorCode {
  const told = `${answer.status} ${answer.text.slice(0, 300)}`;
  assert.equal(typeof answer.json, "object", told);
  const { error, ...rest } = answer.json;
  assert.deepEqual(Object.keys(error).sort(), ["code", "message"], told);
  assert.ok(Object.hasOwn(ERROR_STATUS, error.code), told);
  assert.equal(answer.status, ERROR_STATUS[error.code as ErrorCode], told);
  assert.ok(typeof error.message === "string" && error.message.length > 0, told);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  assert.notEqual(answer.headers.get("x-request-id"), null);
  if (answer.status === 429) {
    const { retry_after_ms: waitMs, ...others } = rest;
    assert.ok(Number.isInteger(waitMs) && waitMs >= 1, told);
    assert.equal(answer.headers.get("retry-after"), String(Math.ceil(waitMs / 1000)));
    assert.deepEqual(others, {});
  } else assert.deepEqual(rest, {}, told);
  return error.code;
}
