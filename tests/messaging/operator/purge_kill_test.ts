/** A purge and a process that is killed. */
import assert from "node:assert/strict";
import { assertStatus } from "../../support/answer.ts";
import { ADMIN_TOKEN, askAdmin, readFigures } from "../../support/figures.ts";
import { openKvFile } from "../../support/read_through.ts";
import { makeStoreFolder, startTestRelay } from "../../support/relay.ts";
import { spawnRelay } from "../../support/spawn_relay.ts";
import { registerAgents, type TestAgent } from "../../support/test_agent.ts";
import { realTarget } from "../../support/traffic.ts";

Deno.test("a relay that is killed during a purge ends it after its next start", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  const env = {
    RELAY_DATA_DIR: dir,
    RELAY_ADMIN_TOKEN: ADMIN_TOKEN,
    RELAY_LIMITS: JSON.stringify({ sendsPerAgentPerMinute: 10_000, inboxPollIntervalMs: 0 }),
  };
  const count = 600;
  const killed = await spawnRelay({ env });
  const [alice, bob] = await registerAgents(realTarget(killed.url), "alice", "bob_1");
  for (let sent = 0; sent < count; sent += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => alice.sent({ to: "bob_1", body: `${sent + i}` })),
    );
  }
  const kept = await bob.sent({ to: "alice", body: "stays" });
  assertStatus(await askAdmin(killed, "ban", alice.address), 200);
  assertStatus(await askAdmin(killed, "purge", alice.address), 202);
  await killed.kill("SIGKILL");
  {
    // Wherever it was stopped: a message stands in both mailboxes or in none.
    using kv = await openKvFile(kvPath);
    const ids = async (prefix: Deno.KvKey) =>
      (await Array.fromAsync(kv.list({ prefix }))).map(({ key }) => key[2]);
    assert.deepEqual(await ids(["inbox", 2]), await ids(["outbox", 1]));
    assert.notEqual((await kv.get(["purge", 1])).value, null);
  }
  await using again = await startTestRelay({
    kvPath,
    clockStartMs: "real",
    config: { adminToken: ADMIN_TOKEN },
  });
  await again.relay.crons.figures!(); // waits for what the start has begun
  const at = (agent: TestAgent) => agent.at(again);
  assert.deepEqual(await at(bob).inbox(), []);
  assert.deepEqual(await at(alice).outbox(), []);
  assert.deepEqual((await at(alice).inbox()).map(({ id }) => id), [kept]);
  assertStatus(await askAdmin(again, "unban", alice.address), 200);
  assert.deepEqual((await readFigures(again)).events.map(({ id }) => id), [kept]);
  await again.stop();
  await Deno.remove(dir, { recursive: true });
});
