/** A relay on a store that is no Deno KV: rows in memory, behind the same contract. */
import assert from "node:assert/strict";
import { assertStatus } from "../support/answer.ts";
import { createTestClock, elapsedOf } from "../support/clock.ts";
import { newKey } from "../support/custody_key.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { accepted } from "../support/mail_caller.ts";
import { MemoryBackend } from "../support/memory_backend.ts";
import { until } from "../support/journal.ts";
import { listMessages, newSendingOrg, send } from "../support/sending_org.ts";
import { registerAgent, toBytes } from "../support/test_agent.ts";

for (const sharedStore of [false, true]) {
  Deno.test(`messages and mail work on rows in memory, ${sharedStore ? "shared by two relays" : "of one relay"}`, async () => {
    const backend = new MemoryBackend();
    const clock = createTestClock();
    const dataDir = await Deno.makeTempDir({ prefix: "relay-memory-" });
    const custodyKeys = [newKey()];
    const open = () =>
      startMailRelay({
        config: { sharedStore, custodyKeys, dataDir },
        deps: { backend, now: clock.now, elapsed: elapsedOf(clock.now) },
      });
    try {
      await using first = await open();
      await using second = sharedStore ? await open() : null;
      const other = second ?? first;

      const alice = await registerAgent({ url: first.url, clock }, "alice");
      const bob = await registerAgent({ url: other.url, clock }, "bob");
      const body = toBytes({ to: "bob", body: "over two relays" });
      const timestamp = clock.seconds();
      const sent = await alice.call("POST", "/v1/messages", { body, timestamp });
      assertStatus(sent, 201);
      const again = await alice.at({ url: other.url, clock })
        .call("POST", "/v1/messages", { body, timestamp });
      assert.equal(again.json.id, sent.json.id);
      assert.deepEqual((await bob.inbox()).map((message) => message.body), ["over two relays"]);

      const org = await newSendingOrg({ ...first, clock });
      const [from, to] = [await org.inbox({}), await org.inbox({})];
      accepted(await send(org, from, { to: to.address, subject: "s", text: "to myself" }), 202);
      const there = org.at(other);
      await until(async () => (await listMessages(there, to)).length > 0);
      assert.deepEqual((await listMessages(there, to)).map(({ subject }) => subject), ["s"]);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  });
}
