import assert from "node:assert/strict";
import {
  addressCapKey,
  type AddressCapRecord,
} from "../../../server/messaging/digest/address_cap.ts";
import {
  digestId,
  type DueAgent,
  queueDigest,
} from "../../../server/messaging/digest/digest_queue.ts";
import {
  subscriptionKey,
  type SubscriptionRecord,
} from "../../../server/messaging/digest/subscription.ts";
import { inKey, newInRecord } from "../../../server/messaging/mailboxes/agent_mailboxes.ts";
import { pollKey, type PollRecord } from "../../../server/messaging/messages/inbox/poll_record.ts";
import {
  laneKey,
  outgoingKey,
  type OutgoingRow,
} from "../../../server/base/outgoing/outgoing_row.ts";
import { domainTag } from "../../../server/base/outgoing/recipient_domain.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { openTestStorage, type TestStorage } from "../../support/storage.ts";
import { HOUR_MS } from "./digest_bench.ts";

const AGENT = 7;
const EMAIL = "reader@example.net";

interface Scene {
  kv: Deno.Kv;
  storage: TestStorage;
  found: DueAgent;
  /** Queues what was found; `rememberedPollMs` stands for a poll that no record holds. */
  queue(rememberedPollMs?: number): ReturnType<typeof queueDigest>;
  waiting(): Promise<OutgoingRow | null>;
}

function queueTest(name: string, test: (scene: Scene) => Promise<void>): void {
  for (const exclusive of [true, false]) {
    Deno.test(`${name} (${exclusive ? "exclusive" : "shared"} store)`, async () => {
      const kv = await openMemoryKv();
      const storage = await openTestStorage(kv, { exclusive });
      const nowMs = storage.clock.now();
      const subscription = {
        v: 1 as const,
        email: EMAIL,
        setAtMs: nowMs - 10 * HOUR_MS,
        unsubscribeToken: "rt_unsub_token",
        lastNotifiedMs: nowMs - 7 * HOUR_MS,
      };
      await kv.set(subscriptionKey(AGENT), subscription satisfies SubscriptionRecord);
      await kv.set(inKey(AGENT), { ...newInRecord(), notify: true });
      await test({
        kv,
        storage,
        found: { agentId: AGENT, subscription, unseenMs: nowMs - HOUR_MS },
        queue(rememberedPollMs) {
          return queueDigest({
            store: storage.store,
            commits: storage.commits,
            intervalMs: 6 * HOUR_MS,
            rememberedPollMs: () => rememberedPollMs ?? null,
          }, this.found);
        },
        waiting: async () => (await kv.get<OutgoingRow>(outgoingKey(digestId(AGENT)))).value,
      });
      await storage.close();
      kv.close();
    });
  }
}

queueTest(
  "queueDigest() records the notification and queues the mail in one commit",
  async (scene) => {
    const { kv, storage, waiting } = scene;
    const nowMs = storage.clock.now();
    assert.deepEqual(await scene.queue(), { result: "queued" });
    const rows = await kv.getMany([
      subscriptionKey(AGENT),
      outgoingKey(digestId(AGENT)),
      laneKey("digest", domainTag(EMAIL), nowMs, digestId(AGENT)),
      addressCapKey(EMAIL),
    ]);
    assert.equal(new Set(rows.map(({ versionstamp }) => versionstamp)).size, 1);
    assert.equal((rows[0]!.value as SubscriptionRecord).lastNotifiedMs, nowMs);
    assert.deepEqual((rows[3]!.value as AddressCapRecord).stampsMs, [nowMs]);
    const stored = JSON.stringify(await waiting());
    assert.ok(!stored.includes(EMAIL) && !stored.includes("rt_unsub_"), stored);
  },
);

queueTest(
  "queueDigest() queues nothing for an address that was cleared meanwhile",
  async (scene) => {
    const { kv, found } = scene;
    const cleared = { ...found.subscription, email: null, unsubscribeToken: null };
    await kv.set(subscriptionKey(AGENT), cleared satisfies SubscriptionRecord);
    assert.deepEqual(await scene.queue(), { result: "changed" });
    assert.equal(await scene.waiting(), null);
  },
);

queueTest(
  "queueDigest() queues nothing where another process has recorded a digest meanwhile",
  async (scene) => {
    const { kv, storage, found } = scene;
    const lastNotifiedMs = storage.clock.now() - 1;
    await kv.set(subscriptionKey(AGENT), { ...found.subscription, lastNotifiedMs });
    assert.deepEqual(await scene.queue(), { result: "changed" });
    assert.equal(await scene.waiting(), null);
  },
);

queueTest("queueDigest() queues nothing for an agent banned meanwhile", async (scene) => {
  await scene.kv.set(inKey(AGENT), { ...newInRecord(), notify: true, banned: true });
  assert.deepEqual(await scene.queue(), { result: "changed" });
});

queueTest(
  "queueDigest() queues nothing after a poll later than the message, recorded or not",
  async (scene) => {
    const { kv, found } = scene;
    assert.deepEqual(await scene.queue(found.unseenMs), { result: "changed" });
    const poll: PollRecord = {
      v: 1,
      lastPollMs: found.unseenMs,
      read: [],
      overflow: false,
    };
    await kv.set(pollKey(AGENT), poll);
    scene.storage.records.evict(`poll/${AGENT}`);
    assert.deepEqual(await scene.queue(), { result: "changed" });
    await kv.set(pollKey(AGENT), { ...poll, lastPollMs: found.unseenMs - 1 });
    scene.storage.records.evict(`poll/${AGENT}`);
    assert.equal((await scene.queue(found.unseenMs - 1)).result, "queued");
  },
);

queueTest("queueDigest() queues no second one beside one that waits", async (scene) => {
  const { kv, storage } = scene;
  await kv.set(outgoingKey(digestId(AGENT)), { waits: true });
  assert.deepEqual(await scene.queue(), { result: "changed" });
  assert.deepEqual(await scene.waiting(), { waits: true });
  const kept = await kv.get<SubscriptionRecord>(subscriptionKey(AGENT));
  assert.equal(kept.value!.lastNotifiedMs, storage.clock.now() - 7 * HOUR_MS);
});

queueTest("queueDigest() tells when an address has its share again", async (scene) => {
  const { kv, storage } = scene;
  const nowMs = storage.clock.now();
  const stampsMs = [4, 3, 2, 1].map((hours) => nowMs - hours * HOUR_MS);
  await kv.set(addressCapKey(EMAIL), { v: 1, stampsMs } satisfies AddressCapRecord);
  assert.deepEqual(await scene.queue(), { result: "capped", untilMs: nowMs + 2 * HOUR_MS });
  assert.equal(await scene.waiting(), null);
});
