import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  fingerprintOf,
  hashScope,
  readIdempotencyKey,
  requireIdempotencyKey,
} from "./idempotency_key.ts";

Deno.test("requireIdempotencyKey takes 1 to 255 printable ASCII characters", () => {
  for (const key of ["x", " ", "~", '"quoted"', "x".repeat(255)]) {
    assert.equal(requireIdempotencyKey(key, "it"), key);
  }
  for (const key of ["", "x".repeat(256), "a\tb", "\u00e9", "\x7f", "a\n"]) {
    assert.throws(() => requireIdempotencyKey(key, "the argument"), {
      code: "invalid_json",
      message: "the argument must be 1 to 255 printable ASCII characters",
    });
  }
});

Deno.test("readIdempotencyKey tells an absent header from an empty one", () => {
  assert.equal(readIdempotencyKey(new Headers()), null);
  assert.equal(readIdempotencyKey(new Headers({ "Idempotency-Key": "k" })), "k");
  assert.throws(() => readIdempotencyKey(new Headers({ "Idempotency-Key": "" })), {
    message: /^the header Idempotency-Key must be/,
  });
});

Deno.test("hashScope of one part is its SHA-256, and tells lists of parts apart", () => {
  assert.equal(hashScope("key"), createHash("sha256").update("key").digest("base64url"));
  assert.notEqual(hashScope("ab", "c"), hashScope("a", "bc"));
  assert.notEqual(hashScope("a", "", "b"), hashScope("a", "b"));
  assert.throws(() => hashScope("a\0b"), TypeError);
});

Deno.test("fingerprintOf is the same for what is written differently", () => {
  assert.equal(fingerprintOf({ a: 1, b: [1.0] }), fingerprintOf({ b: [1], a: 1 }));
  assert.notEqual(fingerprintOf({ a: 1 }), fingerprintOf({ a: "1" }));
  assert.match(fingerprintOf(null), /^[A-Za-z0-9_-]{43}$/);
});
