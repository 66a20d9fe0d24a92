/** What a relay that was killed had only in its journal: the next one goes by it, however it opens the store. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { journalKey } from "../../server/base/storage/journal/journal_row.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { encodeBase64Key, newKey } from "../support/custody_key.ts";
import { ADMIN_TOKEN, setBanned } from "../support/figures.ts";
import { spawnRelay } from "../support/spawn_relay.ts";
import { registerAgents, TestAgent } from "../support/test_agent.ts";
import { ToolAgent } from "../support/tool_client.ts";
import { keyPairFromHex } from "../../toolkit/mod.ts";
import { realTarget } from "../support/traffic.ts";

/** Rows of the journal in the file of a relay that has ended. */
async function countJournal(dataDir: string): Promise<number> {
  using kv = await Deno.openKv(join(dataDir, "relay.kv"));
  return (await Array.fromAsync(kv.list({ prefix: journalKey.under() }))).length;
}

for (const shared of [false, true]) {
  const kind = shared ? "a shared store" : "its own";

  Deno.test(`after kill -9 heads, windows, retained bytes, bans and exports are those before it, where the next relay opens the file as ${kind}`, async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "relay-killed-" });
    const env = {
      RELAY_DATA_DIR: dataDir,
      RELAY_ADMIN_TOKEN: ADMIN_TOKEN,
      RELAY_CUSTODY_KEY: encodeBase64Key(newKey()),
      RELAY_LIMITS: JSON.stringify({
        registrationsPerIpPerHour: 100,
        sendsPerAgentPerMinute: 5,
        inboxPollIntervalMs: 0,
        retainedBytesPerSender: 70_000,
      }),
    };
    try {
      const first = await spawnRelay({ env });
      const names = ["alice", "bob", "carol", "dave", "erin"];
      const agents = await registerAgents(realTarget(first.url), ...names);
      const [alice, bob, carol, dave, erin] = agents;
      const tool = await ToolAgent.register(first.url, "tool");
      const ids: number[] = [];
      for (let i = 0; i < 5; i++) ids.push(await alice!.sent({ to: "bob", body: i }));
      const large = (text: string) => ({ to: "bob", body: text.padEnd(60_000, ".") });
      ids.push(await dave!.sent(large("first")));
      await setBanned(first, carol!, true);
      const exported = await tool.rest("POST", "/v1/keys/export");
      assertStatus(exported, 200);
      await first.kill("SIGKILL");
      assert.ok(await countJournal(dataDir) > 0, "the journal was saved before the kill");

      const own = { RELAY_SHARED_STORE: String(shared) };
      const second = await spawnRelay({ env: { ...env, ...own } });
      if (shared) assert.equal(await countJournal(dataDir), 0);
      const target = realTarget(second.url);
      assertRefused(await alice!.at(target).send({ to: "bob", body: 5 }), "rate_limited", /minute/);
      assertRefused(await dave!.at(target).send(large("second")), "rate_limited", /retained/);
      assertRefused(await carol!.at(target).send({ to: "bob", body: 1 }), "banned");
      assertRefused(await bob!.at(target).send({ to: "carol", body: 1 }), "recipient_banned");
      assertRefused(await tool.at(second.url).rest("POST", "/v1/keys/export"), "unknown_token");
      const itself = new TestAgent(target, keyPairFromHex(exported.json.private_key_hex));
      ids.push(await itself.sent({ to: "bob", body: "by its own key" }));
      ids.push(await erin!.at(target).sent({ to: "bob", body: "after" }));
      assert.deepEqual(ids, ids.toSorted((a, b) => a - b), "above every head before the kill");
      const inbox = await bob!.at(target).inbox();
      assert.deepEqual(inbox.map(({ id }) => id), ids);
      await second.kill("SIGKILL");

      const third = await spawnRelay({ env });
      const again = await bob!.at(realTarget(third.url)).poll(`since_id=${ids.at(-2)}`);
      assert.deepEqual(again.json.messages.map(({ id }: { id: number }) => id), ids.slice(-1));
      ids.push(await erin!.at(realTarget(third.url)).sent({ to: "bob", body: "own again" }));
      assert.ok(ids.at(-1)! > ids.at(-2)!);
      assert.equal((await third.terminate()).code, 0);
      assert.equal(await countJournal(dataDir), 0, "an end in order leaves no journal");
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  });
}
