import assert from "node:assert/strict";
import { ask } from "../support/answer.ts";
import { seededRandom } from "../support/fake_kv.ts";
import { isLong } from "../support/long_test.ts";
import { delay } from "../support/pace.ts";
import { startRelayProcesses } from "../support/relay_processes.ts";
import { spawnRelay } from "../support/spawn_relay.ts";
import { registerAgent, type Target } from "../support/test_agent.ts";
import { realTarget, TRAFFIC_LIMITS } from "../support/traffic.ts";
import { Ledger } from "./ledger.ts";

const ROUNDS = isLong ? 100 : 9;
const SHARED_ROUNDS = isLong ? 20 : 3;
const AGENTS = 5;
const LANES = 6;

/**
 * How a round's process runs: the file its own, its journal saved rarely or all the time, or shared.
 * What one leaves, the next one of another kind takes over.
 */
const KINDS = [
  {},
  { entry: "./relay_with_small_journal.ts" },
  { env: { RELAY_SHARED_STORE: "true" } },
];

/** Clients that send, poll and look at outboxes until the relay has died. */
async function load(
  ledger: Ledger,
  targets: readonly Target[],
  random: () => number,
  isOver: () => boolean,
  sinceId: number,
): Promise<void> {
  const any = (count: number) => Math.floor(random() * count);
  const lane = async () => {
    while (!isOver()) {
      const target = targets[any(targets.length)]!;
      const what = random();
      try {
        if (what < 0.7) await ledger.send(target, any(AGENTS), any(AGENTS));
        else if (what < 0.9) await ledger.poll(target, any(AGENTS));
        else await ledger.readOutbox(target, any(AGENTS), sinceId);
      } catch (error) {
        // A connection that broke with the relay; anything else is a finding.
        if (!(error instanceof TypeError) && !(error instanceof Deno.errors.Http)) throw error;
        await delay(1);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

Deno.test(`kill -9 during load, ${ROUNDS} rounds: what was acknowledged is there once, verifies and stays delivered`, async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-killed-" });
  const env = { RELAY_DATA_DIR: dataDir, RELAY_LIMITS: JSON.stringify(TRAFFIC_LIMITS) };
  const random = seededRandom(20);
  const ledger = new Ledger();
  try {
    let before = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const kind = KINDS[round % KINDS.length]!;
      const relay = await spawnRelay({ ...kind, env: { ...env, ...kind.env } });
      assert.equal(relay.output().stderr, "", "the relay started with a complaint");
      const target = realTarget(relay.url);
      for (let i = 0; round === 0 && i < AGENTS; i++) {
        ledger.enroll(await registerAgent(target, `agent_${i}`));
      }
      await ledger.check(target, before);
      for (let agent = 0; agent < AGENTS; agent++) await ledger.readOutbox(target, agent, before);
      await ledger.repeatUnanswered(target);
      before = ledger.lastId;
      let over = false;
      const known = ledger.acknowledged.size;
      const loaded = load(ledger, [target], random, () => over, before);
      await delay(20 + random() * 80);
      // A busy machine gets its time: a round without load proves nothing.
      while (ledger.acknowledged.size < known + 10) await delay(5);
      over = true; // no new requests; those under way die with the process
      await relay.kill("SIGKILL");
      await loaded;
    }
    const relay = await spawnRelay({ env });
    assert.equal((await ask(`${relay.url}/health/db`)).status, 200);
    const target = realTarget(relay.url);
    await ledger.repeatUnanswered(target);
    await ledger.check(target);
    for (let agent = 0; agent < AGENTS; agent++) await ledger.readOutbox(target, agent);
    await relay.kill("SIGKILL");
    assert.ok(ledger.deliveredCount > ROUNDS, `${ledger.deliveredCount} were seen delivered`);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test(`kill -9 of one of two processes on a file, ${SHARED_ROUNDS} rounds: the other serves on, nothing is lost or doubled`, async () => {
  await using processes = await startRelayProcesses(1, { limits: TRAFFIC_LIMITS });
  const survivor = processes.targets[0]!;
  const random = seededRandom(21);
  const ledger = new Ledger();
  for (let i = 0; i < AGENTS; i++) ledger.enroll(await registerAgent(survivor, `agent_${i}`));
  for (let round = 0; round < SHARED_ROUNDS; round++) {
    const { relay, target } = await processes.add();
    const before = ledger.lastId;
    let over = false;
    const loaded = load(ledger, [survivor, target], random, () => over, before);
    const known = ledger.acknowledged.size;
    await delay(40 + random() * 100);
    while (ledger.acknowledged.size < known + 10) await delay(5);
    await relay.kill("SIGKILL");
    await delay(30); // the other goes on meanwhile
    over = true;
    await loaded;
    await ledger.repeatUnanswered(survivor);
    await ledger.check(survivor, before);
    for (let agent = 0; agent < AGENTS; agent++) await ledger.readOutbox(survivor, agent, before);
  }
  await ledger.check(survivor);
});
