import assert from "node:assert/strict";
import { inKey, newInRecord } from "../mailboxes/agent_mailboxes.ts";
import { createTestClock } from "../../../tests/support/clock.ts";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { openMemoryKv, storedRecord } from "../../../tests/support/read_through.ts";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import {
  hashUnsubscribeToken,
  stageSubscription,
  subscriptionKey,
  type SubscriptionRecord,
  unsubscribeKey,
} from "./subscription.ts";

const AGENT = 7;
const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

async function withAgent(
  test: (agent: {
    kv: Deno.Kv;
    stage(email: string | null, atMs: number): Promise<void>;
    put(transaction: (transaction: Transaction) => void): Promise<void>;
    subscription(): Promise<SubscriptionRecord | null>;
    notify(): Promise<boolean>;
    tokens(): Promise<string[]>;
  }) => Promise<void>,
): Promise<void> {
  const kv = await openMemoryKv();
  try {
    await kv.set(inKey(AGENT), newInRecord());
    const clock = createTestClock(Date.UTC(2026, 0, 1));
    const storage = await openTestStorage(kv, { clock });
    const { commits } = storage;
    const put = (plan: (transaction: Transaction) => void) => commits.submit(plan);
    await test({
      kv,
      put,
      stage: (email, atMs) => {
        clock.set(atMs);
        return put((transaction) => stageSubscription(transaction, AGENT, email, random));
      },
      subscription: async () => (await kv.get<SubscriptionRecord>(subscriptionKey(AGENT))).value,
      notify: async () => (await storedRecord(kv, inKey(AGENT))).value!.notify,
      tokens: async () => {
        const keys: string[] = [];
        for await (const { key } of kv.list({ prefix: ["unsubscribe"] })) {
          keys.push(key[1] as string);
        }
        return keys;
      },
    });
    await storage.close();
  } finally {
    kv.close();
  }
}

const T0 = Date.UTC(2026, 5, 1);

Deno.test("stageSubscription() sets address, time, token and the flag in one commit", () =>
  withAgent(async ({ kv, stage, subscription, notify, tokens }) => {
    await stage("a@example.org", T0);
    const set = (await subscription())!;
    assert.deepEqual([set.email, set.setAtMs, set.lastNotifiedMs], ["a@example.org", T0, null]);
    assert.match(set.unsubscribeToken!, /^rt_unsub_[A-Za-z0-9_-]{43}$/);
    assert.equal(await notify(), true);
    assert.deepEqual(await tokens(), [hashUnsubscribeToken(set.unsubscribeToken!)]);
    const row = await kv.get(unsubscribeKey(hashUnsubscribeToken(set.unsubscribeToken!)));
    assert.deepEqual(row.value, { v: 1, agentId: AGENT });
    const record = await kv.get(subscriptionKey(AGENT));
    const inbox = await storedRecord(kv, inKey(AGENT));
    assert.equal(row.versionstamp, record.versionstamp);
    assert.equal(inbox.versionstamp, record.versionstamp);
  }));

Deno.test("stageSubscription() keeps token and time for the same address again", () =>
  withAgent(async ({ stage, subscription, tokens }) => {
    await stage("a@example.org", T0);
    const set = await subscription();
    await stage("a@example.org", T0 + 60_000);
    assert.deepEqual(await subscription(), set);
    assert.equal((await tokens()).length, 1);
  }));

Deno.test("stageSubscription() gives a changed address a new token and kills the old one", () =>
  withAgent(async ({ stage, subscription, tokens }) => {
    await stage("a@example.org", T0);
    const first = (await subscription())!.unsubscribeToken!;
    await stage("b@example.org", T0 + 1);
    const second = (await subscription())!;
    assert.notEqual(second.unsubscribeToken, first);
    assert.equal(second.setAtMs, T0 + 1);
    assert.deepEqual(await tokens(), [hashUnsubscribeToken(second.unsubscribeToken!)]);
  }));

Deno.test("stageSubscription() with null removes record, token and flag", () =>
  withAgent(async ({ stage, subscription, notify, tokens }) => {
    await stage("a@example.org", T0);
    await stage(null, T0 + 1);
    assert.equal(await subscription(), null);
    assert.equal(await notify(), false);
    assert.deepEqual(await tokens(), []);
  }));

Deno.test("stageSubscription() keeps the last notification over clearing and setting again", () =>
  withAgent(async ({ put, stage, subscription }) => {
    await stage("a@example.org", T0);
    const set = (await subscription())!;
    await put((transaction) =>
      transaction.putRecord(subscriptionKey(AGENT), { ...set, lastNotifiedMs: T0 + 5 })
    );
    await stage(null, T0 + 10);
    const cleared = (await subscription())!;
    assert.deepEqual([cleared.email, cleared.unsubscribeToken, cleared.lastNotifiedMs], [
      null,
      null,
      T0 + 5,
    ]);
    await stage("b@example.org", T0 + 20);
    assert.equal((await subscription())!.lastNotifiedMs, T0 + 5);
  }));

Deno.test("stageSubscription() with null writes nothing for an agent without an address", () =>
  withAgent(async ({ kv, stage, subscription }) => {
    const before = await storedRecord(kv, inKey(AGENT));
    await stage(null, T0);
    assert.equal(await subscription(), null);
    assert.equal((await storedRecord(kv, inKey(AGENT))).versionstamp, before.versionstamp);
  }));
