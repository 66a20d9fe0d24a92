/** Requests under one key, where a second one waits for the first. */
import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import type { Transaction } from "../storage/commits/group_commit.ts";
import { defineRecord } from "../storage/commits/record_key.ts";
import { KeyedRequests, type KeyUse, keyUses } from "./keyed_requests.ts";

interface Sent {
  id: number;
}

const ROW: KeyUse & Sent = {
  v: 1,
  fingerprint: "stored",
  id: 7,
  createdAtMs: 1000,
  livedMs: 500,
};
const useKey = defineRecord<KeyUse, [scope: string, key: string]>(["test-joined"], 2);
const KEY = useKey("scope", "key");
const DAY_MS = 86_400_000;

function requestsOver(
  row: KeyUse & Sent | null,
  { nowMs = 2000, livedMs = 600 } = {},
): KeyedRequests<Sent> {
  return new KeyedRequests<Sent>({
    uses: keyUses("test-joined"),
    records: {
      read: <T>() => Promise.resolve(row as T | null),
      readRow: () => Promise.reject(new Error("the answer lies in the record")),
    },
    store: {
      exclusive: true,
      now: () => nowMs,
      lived: () => livedMs,
      elapsed: () => livedMs,
      random: (sizeBytes) => new Uint8Array(sizeBytes),
    },
  });
}

/** @param put what it is told to write */
function transactionOver(found: KeyUse & Sent | null, put: unknown[]): Transaction {
  return {
    nowMs: 3000,
    livedMs: 70,
    record: () => found,
    putRecord: (...given: unknown[]) => void put.push(given),
    set: (...given: unknown[]) => void put.push(given),
  } as unknown as Transaction;
}

const neverWork = () => Promise.reject(new Error("worked"));

Deno.test("KeyedRequests takes no fingerprint of a request that is refused under a fresh key", async () => {
  let taken = 0;
  const refuse = () => Promise.reject(new RelayError("payload_too_large", "too large"));
  const once = requestsOver(null).once(KEY, () => `${++taken}`, refuse);
  await assert.rejects(once, { code: "payload_too_large" });
  assert.equal(taken, 0);
});

Deno.test("KeyedRequests takes one fingerprint of a request that is worked on", async () => {
  let taken = 0;
  const sent = await requestsOver(null).once(KEY, () => `${++taken}`, (keyed) => {
    for (let attempt = 0; attempt < 2; attempt++) keyed.write(transactionOver(null, []), { id: 9 });
    return Promise.resolve("sent");
  });
  assert.deepEqual(sent, { replayed: false, answer: "sent" });
  assert.equal(taken, 1);
});

Deno.test("KeyedRequests compares fingerprints where the key was used", async () => {
  const same = await requestsOver(ROW).once(KEY, () => "stored", neverWork);
  assert.deepEqual(same, { replayed: true, answer: ROW });
  const other = requestsOver(ROW).once(KEY, () => "other", neverWork);
  await assert.rejects(other, { code: "idempotency_key_reused" });
});

Deno.test("KeyedRequests keeps an answer for 24 hours by both clocks, and one from a clock that had jumped", async () => {
  const ask = (nowMs: number, livedMs = 500 + nowMs - 1000, row: KeyUse & Sent = ROW) =>
    requestsOver(row, { nowMs, livedMs })
      .once(KEY, () => "stored", () => Promise.resolve("worked"));
  assert.equal((await ask(1000 + DAY_MS - 1)).replayed, true);
  assert.equal((await ask(1000 + DAY_MS)).replayed, false);
  assert.equal((await ask(0)).replayed, true);
  assert.equal((await ask(1000 + 300 * DAY_MS, 500 + DAY_MS - 1)).replayed, true);
  // Of a former version: not over before the store has lived a day.
  const { livedMs: _, ...former } = ROW;
  assert.equal((await ask(1000 + 300 * DAY_MS, DAY_MS - 1, former)).replayed, true);
  assert.equal((await ask(1000 + 300 * DAY_MS, DAY_MS, former)).replayed, false);
});

Deno.test("KeyedRequests writes use and answer as one record that the store does not let go of, and decides again in the commit", async () => {
  const put: unknown[] = [];
  await requestsOver(null).once(KEY, () => "asked", (keyed) => {
    keyed.decide(transactionOver(null, put));
    keyed.write(transactionOver(null, put), { id: 9 });
    return Promise.resolve();
  });
  const kept = {
    ...{ v: 1, fingerprint: "asked", id: 9 },
    ...{ createdAtMs: 3000, livedMs: 70 },
  };
  const index = ["repetition", "test-joined", 70 + DAY_MS + 2 * 3_600_000, "scope", "key"];
  assert.deepEqual(put, [[KEY, kept], [index, { v: 1, livedMs: 70 }]]);

  // Another process was first.
  const late = await requestsOver(null).once(KEY, () => "stored", (keyed) => {
    keyed.decide(transactionOver(ROW, put));
    return Promise.resolve("worked");
  });
  assert.deepEqual(late, { replayed: true, answer: ROW });
});

Deno.test("KeyedRequests works on one request under a key at a time, and on other keys meanwhile", async () => {
  const requests = requestsOver(null);
  const begun: string[] = [];
  const gates: (() => void)[] = [];
  const ask = (name: string, key: string) =>
    requests.once(useKey("scope", key), () => "asked", () => {
      begun.push(name);
      return new Promise<string>((resolve, reject) =>
        gates.push(() => name === "a" ? reject(new Error("a failed")) : resolve(name))
      );
    });
  const answers = Promise.allSettled([ask("a", "1"), ask("b", "1"), ask("c", "2")]);
  const microtask = () => new Promise<void>((resolve) => queueMicrotask(resolve));
  while (begun.length < 2) await microtask();
  for (let i = 0; i < 50; i++) await microtask();
  assert.deepEqual(begun, ["a", "c"]);
  gates[0]!();
  while (begun.length < 3) await microtask();
  for (const open of gates.slice(1)) open();
  assert.deepEqual((await answers).map(({ status }) => status), [
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
});
