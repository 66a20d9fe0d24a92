import assert from "node:assert/strict";
import {
  findUnreadSince,
  READ_BOUNDS,
  summariseUnread,
} from "../../../server/messaging/digest/unread.ts";
import { inKey, newInRecord } from "../../../server/messaging/mailboxes/agent_mailboxes.ts";
import { inboxKey } from "../../../server/messaging/messages/rows/message_row.ts";
import {
  pollKey,
  type PollRecord,
  readKey,
} from "../../../server/messaging/messages/inbox/poll_record.ts";
import { RecentMessages } from "../../../server/messaging/messages/rows/recent_messages.ts";
import { encodeRow } from "../../../server/messaging/messages/rows/row_codec.ts";
import { StoredMessages } from "../../../server/messaging/messages/rows/stored_messages.ts";
import { scanUndelivered } from "../../../server/messaging/messages/inbox/undelivered.ts";
import { lowestIdAt } from "../../../server/base/storage/commits/id_sequence.ts";
import { openMemoryKv, rawOf } from "../../support/read_through.ts";
import { openTestStorage } from "../../support/storage.ts";

const AGENT = 7;
const DAY_MS = 86_400_000;

interface Scene {
  nowMs: number;
  kv: Deno.Kv;
  /** Bytes of values that were read by lists. */
  read: { bytes: number; keys: string[] };
  /** Stores messages, one a ms up to now: by these senders, with bodies of so many bytes. */
  store(senderIds: readonly number[], bodyBytes?: number, ageMs?: number): Promise<number[]>;
  scan(
    ...args: Parameters<typeof scanUndelivered> extends [unknown, ...infer R] ? R : never
  ): ReturnType<typeof scanUndelivered>;
}

function unreadTest(name: string, test: (scene: Scene) => Promise<void>): void {
  Deno.test(name, async () => {
    const plain = await openMemoryKv();
    const read: Scene["read"] = { bytes: 0, keys: [] };
    const kv = new Proxy(rawOf(plain), {
      get(target, property) {
        if (property === "list") {
          return async function* (...args: Parameters<Deno.Kv["list"]>) {
            for await (const row of target.list(...args)) {
              read.bytes += (row.value as Uint8Array).length ?? 0;
              read.keys.push(String(row.key[0]));
              yield row;
            }
          };
        }
        const value = Reflect.get(target, property);
        if (property === "get" || property === "getMany") read.keys.push("");
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const storage = await openTestStorage(kv);
    const nowMs = storage.clock.now();
    const messages = new StoredMessages(storage.store, 30, new RecentMessages());
    await test({
      nowMs,
      kv: plain,
      read,
      async store(senderIds, bodyBytes = 10, ageMs = 0) {
        const ids: number[] = [];
        for (const [i, senderId] of senderIds.entries()) {
          const createdAtMs = nowMs - ageMs - (senderIds.length - i);
          const id = lowestIdAt(createdAtMs) + 256;
          const row = encodeRow({
            senderId,
            createdAtMs,
            contentHash: "00".repeat(32),
            bodyAt: 0,
            bodySizeBytes: bodyBytes,
            request: { to: "bob", inReplyTo: "absent", contentType: "absent" },
            json: new Uint8Array(Math.min(bodyBytes, 60_000)),
            pieces: bodyBytes > 60_000 ? 1 : 0,
          });
          await plain.set(inboxKey(AGENT, id), row);
          ids.push(id);
        }
        await plain.set(inKey(AGENT), { ...newInRecord(), head: ids.at(-1)! });
        return ids;
      },
      scan: (agentId, selection) => scanUndelivered({ ...storage, messages }, agentId, selection),
    });
    await storage.close();
    plain.close();
  });
}

const poll = (more: Partial<PollRecord>): PollRecord => ({
  v: 1,
  lastPollMs: 0,
  read: [],
  overflow: false,
  ...more,
});

unreadTest(
  "summariseUnread() counts everything undelivered, the sender of the newest first",
  async (scene) => {
    const ids = await scene.store([1, 2, 3, 2, 1, 4, 5, 4]);
    await scene.kv.set(pollKey(AGENT), poll({ read: [ids[2]!, ids[2]!, ids[5]!, ids[6]!] }));
    assert.deepEqual(await summariseUnread(scene.scan, AGENT), {
      count: 5,
      senderIds: [4, 1, 2],
      isPartial: false,
    });
  },
);

unreadTest(
  "summariseUnread() knows what was delivered one by one, and what has expired",
  async (scene) => {
    await scene.store([9, 9], 10, 31 * DAY_MS);
    const ids = await scene.store([1, 2, 3]);
    await scene.kv.set(pollKey(AGENT), poll({ overflow: true }));
    await scene.kv.set(readKey(AGENT, ids[1]!), 1);
    assert.deepEqual(await summariseUnread(scene.scan, AGENT), {
      count: 2,
      senderIds: [3, 1],
      isPartial: false,
    });
  },
);

unreadTest("summariseUnread() is exact for a thousand messages, in slices", async (scene) => {
  await scene.store(Array.from({ length: 1_000 }, (_, i) => i % 50));
  const summary = await summariseUnread(scene.scan, AGENT);
  assert.equal(summary.count, 1_000);
  assert.equal(summary.senderIds.length, 50);
  assert.equal(summary.isPartial, false);
});

unreadTest(
  "summariseUnread() reads a bounded part of many large messages, and says so",
  async (scene) => {
    await scene.store(Array.from({ length: 700 }, (_, i) => i), 64_000);
    scene.read.bytes = 0;
    const { count, senderIds, isPartial } = await summariseUnread(scene.scan, AGENT);
    assert.equal(isPartial, true);
    assert.ok(scene.read.bytes < READ_BOUNDS.bytes + 2 * 1024 * 1024, `${scene.read.bytes} bytes`);
    assert.ok(count > 500 && count < 700, `${count}`);
    assert.equal(senderIds[0], 699, "the newest are read");
    assert.ok(!scene.read.keys.includes("piece"));
    assert.ok(scene.read.keys.filter((key) => key === "").length < 10, "no piece is fetched");
  },
);

unreadTest("summariseUnread() reads a bounded number of messages, and says so", async (scene) => {
  await scene.store(Array(READ_BOUNDS.rows + 300).fill(1));
  scene.read.keys.length = 0;
  const { count, isPartial } = await summariseUnread(scene.scan, AGENT);
  assert.equal(isPartial, true);
  assert.ok(count >= READ_BOUNDS.rows && count < READ_BOUNDS.rows + 300);
  assert.ok(scene.read.keys.length < READ_BOUNDS.rows + 300);
});

unreadTest("findUnreadSince() reads one message where the first is late enough", async (scene) => {
  await scene.store(Array(50).fill(1), 64_000);
  scene.read.bytes = 0;
  const sinceMs = scene.nowMs - 20;
  assert.equal(await findUnreadSince(scene.scan, AGENT, sinceMs, scene.nowMs), sinceMs + 1);
  assert.ok(scene.read.bytes < 3 * 64_000, `${scene.read.bytes} bytes`);
  assert.equal(await findUnreadSince(scene.scan, AGENT, scene.nowMs, scene.nowMs), null);
});
