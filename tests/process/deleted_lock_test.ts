/** A file `lock` that is deleted lets a second relay start: the first one ends. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { spawnRelay } from "../support/spawn_relay.ts";
import { realTarget } from "../support/traffic.ts";
import { registerAgent } from "../support/test_agent.ts";

Deno.test("of two relays on a folder whose lock was deleted, the one without the file stops", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-lock-" });
  const env = { RELAY_DATA_DIR: dataDir };
  try {
    await using first = await spawnRelay({ env, entry: "relay_with_short_minutes.ts" });
    const alice = await registerAgent(realTarget(first.url), "alice");
    await alice.sent({ to: "alice", body: "before" });
    await Deno.remove(join(dataDir, "lock"));
    await using second = await spawnRelay({ env });
    const { code, signal } = await first.status;
    assert.deepEqual([code, signal], [1, null]);
    const { stdout, stderr } = first.output();
    assert.match(stderr, /^relay: the file lock in RELAY_DATA_DIR .* was deleted or replaced.*$/m);
    assert.match(stdout + stderr, /store_lost/);
    const heir = alice.at(realTarget(second.url));
    assert.deepEqual((await heir.inbox()).map(({ body }: { body: string }) => body), ["before"]);
    await heir.sent({ to: "alice", body: "after" });
    assert.equal((await second.terminate()).code, 0);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("a relay that nobody follows stops all the same, and its next start takes the folder", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-lock-" });
  const options = { env: { RELAY_DATA_DIR: dataDir }, entry: "relay_with_short_minutes.ts" };
  try {
    await using relay = await spawnRelay(options);
    await Deno.remove(join(dataDir, "lock"));
    assert.equal((await relay.status).code, 1);
    await using next = await spawnRelay(options);
    assert.equal((await next.terminate()).code, 0);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
