import assert from "node:assert/strict";
import { isLoopback } from "./loopback.ts";

Deno.test("isLoopback() knows the names of this machine only", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.9.10", "::1"]) {
    assert.equal(isLoopback(host), true, host);
  }
  for (const host of ["127.example.org", "localhost.example.org", "10.0.0.1", "::2", "0.0.0.0"]) {
    assert.equal(isLoopback(host), false, host);
  }
});
