/**
 * A store in which more has expired than the runtime deletes in the time of a start: after a long stop,
 * or on an old backup. The long form, which fails without the deletion before the start:
 * EXPIRED_ROWS=1200000 deno task test tests/faults/expired_store_test.ts
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { countRows, writeRows } from "../support/expired_rows.ts";
import { spawnFailingRelay, spawnRelay } from "../support/spawn_relay.ts";
import { registerAgents } from "../support/test_agent.ts";
import { realTarget } from "../support/traffic.ts";

const ROWS = Number(Deno.env.get("EXPIRED_ROWS") ?? 40_000);
const DAY_MS = 86_400_000;

/** A data folder that a relay has used, with a message in it and many rows that have expired. */
async function makeOldFolder(): Promise<AsyncDisposable & { env: Record<string, string> }> {
  const path = await Deno.makeTempDir({ prefix: "relay-expired-" });
  const env = { RELAY_DATA_DIR: path };
  const relay = await spawnRelay({ env });
  const [alice] = await registerAgents(realTarget(relay.url), "alice", "bob");
  await alice.sent({ to: "bob", body: "still there" });
  await relay.terminate();
  writeRows(join(path, "relay.kv"), {
    count: ROWS,
    expiresAtMs: Date.now() - DAY_MS,
    spreadMs: 30 * DAY_MS,
  });
  return { env, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

for (const signal of ["SIGKILL", "SIGTERM"] as const) {
  Deno.test(`main.ts starts on ${ROWS} expired rows, telling how far it is, and goes on after ${signal}`, async () => {
    await using folder = await makeOldFolder();
    const kvPath = join(folder.env.RELAY_DATA_DIR!, "relay.kv");
    const kept = countRows(kvPath).rows - ROWS;
    const progress = /deleting expired rows before the start: [\d,]+ of [\d,]+\n/;
    const stopped = await spawnFailingRelay({
      env: folder.env,
      stopAt: { pattern: progress, signal },
    });
    assert.match(stopped.stdout, progress);
    assert.doesNotMatch(stopped.stdout, /listening/);

    const left = countRows(kvPath).expiring;
    await using relay = await spawnRelay({ env: folder.env });
    const { stdout, stderr } = relay.output();
    const told = [...stdout.matchAll(/start: ([\d,]+) of ([\d,]+)\n/g)];
    // Few rows are deleted without a word, and a busy machine may have left few.
    assert.ok(told.length > 1 || left < 30_000);
    if (told.length > 0) assert.equal(told.at(-1)![1], told.at(-1)![2]);
    assert.equal(stderr, "");
    const answer = await fetch(`${relay.url}/v1/stats`);
    assert.equal((await answer.json()).total_messages, 1);
    assert.equal((await relay.terminate()).code, 0);
    assert.ok(countRows(kvPath).rows >= kept && countRows(kvPath).rows < kept + 100);
  });
}
