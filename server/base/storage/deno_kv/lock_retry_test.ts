import assert from "node:assert/strict";
import { isDatabaseLocked, retryWhileLocked } from "./lock_retry.ts";

Deno.test("isDatabaseLocked() knows SQLite's words and nothing else", () => {
  assert.ok(isDatabaseLocked(new TypeError("database is locked")));
  assert.ok(
    isDatabaseLocked(new Error("Error code 5: The database file is locked")),
  );
  assert.equal(isDatabaseLocked(new Error("disk I/O error")), false);
  assert.equal(isDatabaseLocked("database is locked"), false);
});

Deno.test("retryWhileLocked() runs the operation again until the lock is gone", async () => {
  let tries = 0;
  const result = await retryWhileLocked(() => {
    if (++tries < 4) return Promise.reject(new TypeError("database is locked"));
    return Promise.resolve("done");
  });
  assert.equal(result, "done");
  assert.equal(tries, 4);
});

Deno.test("retryWhileLocked() passes every other failure on at once", async () => {
  let tries = 0;
  await assert.rejects(
    retryWhileLocked(() => {
      tries++;
      return Promise.reject(new TypeError("value too large"));
    }),
    /too large/,
  );
  assert.equal(tries, 1);
});

Deno.test("retryWhileLocked() gives up on a lock that never goes", async () => {
  let tries = 0;
  const locked = () => {
    tries++;
    return Promise.reject(new TypeError("database is locked"));
  };
  await assert.rejects(retryWhileLocked(locked), /database is locked/);
  assert.ok(tries > 10 && tries <= 40, `${tries}`);
});
