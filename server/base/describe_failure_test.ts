import assert from "node:assert/strict";
import { unavailable } from "./errors.ts";
import { StoreFailed } from "./storage/rows/call_deadline.ts";
import { describeFailure } from "./describe_failure.ts";

Deno.test("describeFailure() names the error and where it arose", () => {
  const { name, message, at } = describeFailure(new RangeError("database is locked"));
  assert.equal(name, "RangeError");
  assert.equal(message, "database is locked");
  assert.match(at, /describe_failure_test\.ts/);
});

Deno.test("describeFailure() tells of a refusal what caused it, if anything", () => {
  const failed = new StoreFailed(new TypeError("disk I/O error"));
  assert.equal(describeFailure(failed).message, "disk I/O error");
  assert.equal(describeFailure(unavailable("later", 1)).message, "later");
});

Deno.test("describeFailure() keeps parsers' quotations of input out", () => {
  try {
    JSON.parse('{"body": hunter2}');
  } catch (error) {
    const { name, message, at } = describeFailure(error);
    assert.equal(name, "SyntaxError");
    assert.ok(!`${message}${at}`.includes("hunter2"));
  }
});

Deno.test("describeFailure() cuts out quoted text, addresses and token-like runs", () => {
  const token = "rt_owner_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
  const { message } = describeFailure(
    new Error(`refused "hunter2" and 'hunter2' of ana@example.org with ${token} at "hunter2`),
  );
  assert.equal(message, "refused (...) and (...) of (...) with (...) at (...)");
  assert.ok(describeFailure(new Error("x ".repeat(5000))).message.length <= 200);
});

Deno.test("describeFailure() describes what is no Error without its content", () => {
  assert.deepEqual(describeFailure("hunter2"), {
    name: "string",
    message: "something that is no Error was thrown",
    at: "",
  });
  assert.equal(describeFailure(undefined).name, "undefined");
});
