/** A shared file whose write lock another process holds: a frozen relay, a debugger, a backup gone wrong. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { delay } from "../support/pace.ts";
import { makeStoreFolder, spawnRelay, startTestRelay } from "../support/relay.ts";
import { registerAgent, registerAgents, toBytes } from "../support/test_agent.ts";
import { realTarget } from "../support/traffic.ts";

function holdWriteLock(kvPath: string): Disposable {
  const other = new DatabaseSync(kvPath);
  // The relay may be amid a commit of its own at this moment.
  other.exec("PRAGMA busy_timeout = 10000");
  other.exec("BEGIN IMMEDIATE");
  return { [Symbol.dispose]: () => other.close() };
}

Deno.test("writes on a file that another process has locked are answered 503, reads go on, and nothing is doubled after", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  const relay = await startTestRelay({
    kvPath,
    config: { sharedStore: true },
    relay: {
      queueBounds: {
        jobs: 1000,
        bytes: 1_000_000,
        refuseAfterMs: 1_000,
        retryForMs: 1_000,
        giveUpAfterMs: 2_000,
        checkEveryMs: 50,
      },
    },
  });
  try {
    const [alice, bob] = await registerAgents(relay, "alice", "bob");
    await alice.sent({ to: "bob", body: "before" });
    const body = toBytes({ to: "bob", body: "locked out" });
    const timestamp = relay.clock.seconds();
    const send = () => alice.call("POST", "/v1/messages", { body, timestamp });
    {
      using _ = holdWriteLock(kvPath);
      const answers = await Promise.all([send(), send(), bob.poll()]);
      for (const answer of answers) {
        assertRefused(answer, "unavailable");
        assert.notEqual(answer.headers.get("retry-after"), null);
      }
      assertStatus(await alice.call("GET", "/v1/whoami"), 200);
      assert.equal((await alice.outbox()).length, 1);
    }
    let answer = await send();
    for (let tries = 0; answer.status === 503 && tries < 200; tries++) {
      await delay(50);
      answer = await send();
    }
    assertStatus(answer, 201);
    const repeated = await send();
    assert.equal(repeated.json.id, answer.json.id);
    assert.deepEqual((await bob.inbox()).map((message) => message.body), ["before", "locked out"]);
  } finally {
    await relay.stop();
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("a process told to stop while the file is locked ends within 5 s", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  try {
    const env = { RELAY_DATA_DIR: dir, RELAY_SHARED_STORE: "true" };
    await using relay = await spawnRelay({ env });
    const alice = await registerAgent(realTarget(relay.url), "alice");
    using _ = holdWriteLock(kvPath);
    const pending = alice.send({ to: "alice", body: "locked out" }).catch(() => null);
    await delay(100);
    const beganMs = performance.now();
    assert.equal((await relay.terminate()).code, 0);
    // 5 s are promised of a machine that has time; without the rule it waits for the lock for ever.
    assert.ok(performance.now() - beganMs < 15_000);
    await pending;
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
