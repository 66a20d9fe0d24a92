/** A disk without a free byte: what expires must not end the relay, and a start has to say what to do. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ask } from "../support/answer.ts";
import { countRows, writeRows } from "../support/expired_rows.ts";
import { delay } from "../support/pace.ts";
import { type SmallDisk, smallDiskOrSkip } from "../support/small_disk.ts";
import { type SpawnedRelay, spawnFailingRelay, spawnRelay } from "../support/spawn_relay.ts";
import { registerAgents } from "../support/test_agent.ts";
import { realTarget } from "../support/traffic.ts";

const DISK_MIB = 96;
const ROWS = 10_000;
/** After the next start, and soon. */
const EXPIRE_IN_MS = 5_000;

function settings(disk: SmallDisk): Record<string, string> {
  // What fills the disk here is no send: those would stop long before.
  return { RELAY_DATA_DIR: disk.path, RELAY_LIMITS: '{"minFreeDiskBytes":0}' };
}

/** A relay on a store with a message in it and rows that expire while it runs. */
async function startOnExpiringStore(env: Record<string, string>): Promise<SpawnedRelay> {
  const first = await spawnRelay({ env });
  const [alice] = await registerAgents(realTarget(first.url), "alice", "bob");
  await alice.sent({ to: "bob", body: "still there" });
  assert.equal((await first.terminate()).code, 0);
  const kvPath = join(env.RELAY_DATA_DIR!, "relay.kv");
  writeRows(kvPath, { count: ROWS, expiresAtMs: Date.now() + EXPIRE_IN_MS });
  return await spawnRelay({ env });
}

/** Fills the disk again and again, the room of a reserve that is given up too, until the store has swept. */
async function fillUntilSwept(disk: SmallDisk, relay: SpawnedRelay, kvPath: string): Promise<void> {
  let hasEnded = false;
  relay.status.then(() => hasEnded = true);
  do {
    disk.fill();
    await delay(100);
    assert.ok(!hasEnded, `the relay ended: ${relay.output().stderr.slice(0, 2000)}`);
  } while (countRows(kvPath).rows >= ROWS);
}

smallDiskOrSkip(
  "a relay whose disk is filled to the last byte outlives the store's own sweep, and goes on with room",
  DISK_MIB,
  async (disk) => {
    const env = settings(disk);
    const kvPath = join(env.RELAY_DATA_DIR!, "relay.kv");
    await using relay = await startOnExpiringStore(env);
    assert.ok(Deno.statSync(join(env.RELAY_DATA_DIR!, "disk.reserve")).size > 2 ** 20);
    await fillUntilSwept(disk, relay, kvPath);
    await relay.wrote(/"event":"disk_reserve_given_up"/);
    assert.equal((await ask(`${relay.url}/v1/stats`)).json.total_messages, 1);

    assert.equal((await relay.terminate()).code, 0);
    disk.fill(); // the log's room too, which is given back at the end
    const refused = await spawnFailingRelay({ env });
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /^relay: the disk of RELAY_DATA_DIR .* has [\d.]+ MiB free, .*: make room/,
    );
    assert.equal(refused.stderr.trimEnd().split("\n").length, 1);

    disk.empty();
    await using again = await spawnRelay({ env });
    assert.equal((await ask(`${again.url}/v1/stats`)).json.total_messages, 1);
    assert.equal((await again.terminate()).code, 0);
  },
);

smallDiskOrSkip(
  "a relay that was killed on a full disk starts with the room of its reserve, and deletes what has expired",
  DISK_MIB,
  async (disk) => {
    const env = settings(disk);
    const kvPath = join(env.RELAY_DATA_DIR!, "relay.kv");
    const first = await spawnRelay({ env });
    await first.kill("SIGKILL");
    writeRows(kvPath, { count: ROWS, expiresAtMs: 1 });
    disk.fill();
    await using relay = await spawnRelay({ env });
    assert.ok(countRows(kvPath).rows < ROWS);
    assert.equal((await ask(`${relay.url}/health/db`)).status, 200);
    assert.equal((await relay.terminate()).code, 0);
  },
);
