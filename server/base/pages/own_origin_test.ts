import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { isPlainLoopback, requireOwnOrigin } from "./own_origin.ts";

const isForbidden = (error: unknown) => error instanceof RelayError && error.code === "forbidden";
const from = (origin: string | null, host: string) =>
  requireOwnOrigin(
    new Headers(origin === null ? { host } : { host, origin }),
    "https://relay.example",
  );

Deno.test("requireOwnOrigin() takes the relay's own origin, and this machine's under its own name", () => {
  assert.equal(from("https://relay.example", "relay.example"), "https://relay.example");
  assert.equal(from("http://127.0.0.1:8000", "127.0.0.1:8000"), "http://127.0.0.1:8000");
  assert.equal(from("http://localhost:8000", "localhost:8000"), "http://localhost:8000");
  assert.equal(from("http://[::1]:8000", "[::1]:8000"), "http://[::1]:8000");
});

Deno.test("requireOwnOrigin() refuses strangers, forms without an origin, and names that were rebound", () => {
  const strangers: [string | null, string][] = [
    [null, "relay.example"],
    ["null", "relay.example"],
    ["", "relay.example"],
    ["http://relay.example", "relay.example"],
    ["https://relay.example.evil.example", "relay.example"],
    ["https://relay.example:444", "relay.example"],
    ["http://localhost:9000", "localhost:8000"],
    ["http://evil.example:8000", "evil.example:8000"],
    ["http://127.0.0.1.evil.example", "127.0.0.1.evil.example"],
    ["http://localhost@evil.example", "localhost@evil.example"],
  ];
  assert.equal(strangers.length, 10);
  for (const [origin, host] of strangers) {
    assert.throws(() => from(origin, host), isForbidden, String(origin));
  }
});

Deno.test("isPlainLoopback() is true of http on this machine alone", () => {
  assert.ok(isPlainLoopback("http://127.0.0.1:8000"));
  assert.ok(isPlainLoopback("http://[::1]:8000"));
  assert.ok(!isPlainLoopback("https://localhost"));
  assert.ok(!isPlainLoopback("http://relay.example"));
});
