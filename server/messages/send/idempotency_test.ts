import assert from "node:assert/strict";
import { RelayError } from "../../errors.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { IdempotencyKeys, type IdempotencyRow } from "./idempotency.ts";

const ROW: IdempotencyRow = {
  v: 1,
  attempt: "attempt",
  fingerprint: "stored",
  id: 7,
  contentHash: "hash",
  createdAtMs: 1000,
};

function keysOver(row: IdempotencyRow | null): IdempotencyKeys {
  return new IdempotencyKeys(
    { now: () => 2000 },
    { read: () => Promise.resolve(row) } as unknown as RecordCache,
  );
}

Deno.test("IdempotencyKeys takes no fingerprint of a request that is refused under a fresh key", async () => {
  let taken = 0;
  const refuse = () => Promise.reject(new RelayError("payload_too_large", "too large"));
  const once = keysOver(null).once(1, "key", () => `${++taken}`, refuse);
  await assert.rejects(once, { code: "payload_too_large" });
  assert.equal(taken, 0);
});

Deno.test("IdempotencyKeys takes one fingerprint of a request that is sent", async () => {
  let taken = 0;
  const sent = await keysOver(null).once(1, "key", () => `${++taken}`, (extend) => {
    assert.equal(extend().records?.length, 1);
    return Promise.resolve("sent");
  });
  assert.equal(sent, "sent");
  assert.equal(taken, 1);
});

Deno.test("IdempotencyKeys compares fingerprints where the key was used", async () => {
  const neverSend = () => Promise.reject(new Error("sent"));
  assert.equal(await keysOver(ROW).once(1, "key", () => "stored", neverSend), ROW);
  const other = keysOver(ROW).once(1, "key", () => "other", neverSend);
  await assert.rejects(other, { code: "idempotency_key_reused" });
});
