/** A batch of sends over shared and disjoint mailboxes, one of them bad: the others are stored. */
import { openMemoryKv } from "../support/read_through.ts";
import { storeOn } from "../support/store_on.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Identities } from "../../server/messaging/agents/identities.ts";
import { RelayError } from "../../server/base/errors.ts";
import { DEFAULT_LIMITS } from "../../server/base/config/limits.ts";
import { RecentMessages } from "../../server/messaging/messages/rows/recent_messages.ts";
import { type Send, Sender } from "../../server/messaging/messages/send/sender.ts";
import { readSendRequest } from "../../server/messaging/messages/rows/send_request.ts";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { signRequest, verifyMessage } from "../../toolkit/mod.ts";
import { setBanned } from "../support/ban_in_store.ts";
import { startTestRelay } from "../support/relay.ts";
import { openTestStorage } from "../support/storage.ts";
import { registerAgents, type TestAgent, toBytes } from "../support/test_agent.ts";

const BATCH = 50;
const KINDS = [
  ["exclusive", { exclusive: true, capacity: EMBEDDED_CAPACITY }],
  ["shared, ten checks a commit", { exclusive: false, capacity: KV_CONNECT_CAPACITY }],
] as const;

/** Who sends to whom, by index: a batch that fits the name. */
const SHAPES: Record<string, (i: number) => [from: number, to: number]> = {
  "disjoint mailboxes": (i) => [i % 10, 10 + i % 10],
  "one recipient": (i) => [i % 10, 10],
  "one sender": (i) => [0, 10 + i % 10],
  "one pair": () => [0, 10],
  "everybody to everybody": (i) => [i % 20, (7 * i + 3) % 20],
  "everybody to itself": (i) => [i % 20, i % 20],
};

for (const [kind, options] of KINDS) {
  for (const [shape, pairAt] of Object.entries(SHAPES)) {
    Deno.test(`send() of 50 at once stores 49 and refuses the one to a banned agent: ${shape}, ${kind}`, async () => {
      using kv = await openMemoryKv();
      const handles = Array.from({ length: 20 }, (_, i) => `agent_${i}`);
      const limits = { registrationsPerIpPerHour: 1000, inboxPollIntervalMs: 0 };
      const config = { sharedStore: !options.exclusive };
      let agents: readonly TestAgent[];
      {
        await using relay = await startTestRelay({ deps: { kv }, limits, config });
        agents = await registerAgents(relay, ...handles, "banned");
      }
      await setBanned(kv, "banned", true);

      const bad = 23;
      const pairs = Array.from({ length: BATCH }, (_, i) => pairAt(i));
      pairs[bad] = [pairs[bad]![0], 20];
      const storage = await openTestStorage(kv, options);
      const sender = new Sender({
        ...storage,
        limits: DEFAULT_LIMITS,
        waits: { announce: () => {} },
        recent: new RecentMessages(),
      });
      const identities = new Identities(storeOn(kv));
      const sends = await Promise.all(pairs.map(async ([from, to], i): Promise<Send> => {
        const raw = toBytes({ to: agents[to]!.handle, body: i });
        const timestampSeconds = storage.clock.seconds();
        const request = { method: "POST", path: "/v1/messages", body: raw };
        const { canonicalString, signature } = signRequest(
          { ...request, timestamp: timestampSeconds },
          agents[from]!.keys.privateKey,
        );
        return {
          sender: (await identities.byAddress(agents[from]!.address))!,
          recipient: (await identities.byAddress(agents[to]!.address))!,
          request: readSendRequest(raw, DEFAULT_LIMITS.bodyBytes),
          raw,
          use: { signature: Buffer.from(signature, "base64"), timestampSeconds },
          canonicalString,
          bearer: false,
          addressHash: "somewhere",
        };
      }));
      const results = await Promise.allSettled(sends.map((send) => sender.send(send)));
      await storage.close();

      const ids = results.map((result, i) => {
        if (i === bad) {
          assert.ok(result.status === "rejected" && result.reason instanceof RelayError);
          assert.equal(result.reason.code, "recipient_banned");
          return null;
        }
        assert.ok(result.status === "fulfilled");
        return result.value.id;
      });
      assert.equal(new Set(ids).size, BATCH);
      if (options.exclusive) assert.ok(storage.commits.counts.groups < BATCH / 2);

      await using relay = await startTestRelay({ deps: { kv }, limits, config });
      for (const [index, agent] of agents.entries()) {
        const here = agent.at(relay);
        const expected = ids.flatMap((id, i) =>
          id !== null && pairs[i]![1] === index ? [{ id, body: i }] : []
        )
          .sort((a, b) => a.id - b.id);
        const received = await here.inbox("limit=200");
        assert.deepEqual(received.map(({ id, body }) => ({ id, body })), expected);
        for (const message of received) {
          const { address, handle, wordName } = agent;
          const report = await verifyMessage(message, { recipient: { address, handle, wordName } });
          assert.deepEqual([report.signature, report.body], ["valid", "bound"]);
        }
        const sent = ids.filter((id, i) => id !== null && pairs[i]![0] === index);
        assert.deepEqual(
          (await here.outbox("limit=200")).map(({ id }) => id),
          sent.toSorted((a, b) => a! - b!),
        );
      }
    });
  }
}
