import assert from "node:assert/strict";
import { silentStore } from "../../../../tests/support/silent_store.ts";
import { storeOn } from "../../../../tests/support/store_on.ts";
import { StoreFailed } from "../rows/call_deadline.ts";

const URL = "http://127.0.0.1:4512/v2";

/** As Deno 2.9.6 and denokv 0.14.0 say it. */
const FAILURES = [
  "database or disk is full",
  "database disk image is malformed",
  "disk I/O error",
  "unable to open database file",
  "attempt to write a readonly database",
  `KV Connect failed to call '${URL}/snapshot_read' (status=401 Unauthorized): Invalid access token.`,
  `KV Connect failed to call '${URL}/atomic_write' (status=400 Bad Request): Invalid database id.`,
  `KV Connect failed to call '${URL}/atomic_write' (status=400 Bad Request): This database is read only.`,
  "KV Connect failed to read response body: error decoding response body",
  "KV Connect failed to decode response",
  "Failed to fetch metadata: Invalid access token.",
  "Failed to parse metadata: could not get 'version' field: EOF while parsing",
  "Writes are disabled for this database",
  "Unspecified read error (code=0)",
  "Strong consistency reads are not available for this database",
  "error sending request for url (http://127.0.0.1:4512/v2/snapshot_read)",
];

const MISTAKES = [
  `KV Connect failed to call '${URL}/atomic_write' (status=400 Bad Request): Too many checks included in atomic write.`,
  `KV Connect failed to call '${URL}/atomic_write' (status=413 Payload Too Large): length limit exceeded`,
  "Value too large (max 65536 bytes)",
  "Failed to perform 'sum' mutation on a non-U64 value in the database",
  "Cannot read properties of undefined (reading 'database or disk')",
];

for (const message of FAILURES) {
  Deno.test(`KvBackend takes for the store's own failure: ${message}`, async () => {
    using kv = await Deno.openKv(":memory:");
    const failing = silentStore(kv);
    const told: [string, boolean][] = [];
    const store = storeOn(failing.kv, {
      onFailure: (failure, isRead) => void told.push([(failure as Error).message, isRead]),
    });
    failing.failAfter(0, message);
    const calls = [
      () => store.get(["a"]),
      () => store.getMany([["a"], ["b"]]),
      () => store.list({ prefix: [] }),
      () => store.transact((transaction) => transaction.set(["a"], 1)),
    ];
    for (const call of calls) await assert.rejects(call, StoreFailed);
    assert.deepEqual(told, [true, true, true, false].map((isRead) => [message, isRead]));
  });
}

for (const message of MISTAKES) {
  Deno.test(`KvBackend takes for a mistake of its caller: ${message}`, async () => {
    using kv = await Deno.openKv(":memory:");
    const failing = silentStore(kv);
    const store = storeOn(failing.kv, { onFailure: assert.fail });
    failing.failAfter(0, message);
    await assert.rejects(store.get(["a"]), { name: "TypeError", message });
    const write = store.transact((transaction) => transaction.set(["a"], 1));
    await assert.rejects(write, { name: "TypeError", message });
  });
}

Deno.test("KvBackend leaves what Deno KV refuses as it is", async () => {
  using kv = await Deno.openKv(":memory:");
  const store = storeOn(kv, { onFailure: assert.fail });
  await assert.rejects(store.get(["a".repeat(3_000)]), TypeError);
  const large = store.transact((transaction) => transaction.set(["a"], new Uint8Array(70_000)));
  await assert.rejects(large, TypeError);
});
