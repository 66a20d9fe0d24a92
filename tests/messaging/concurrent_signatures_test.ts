/** Signed requests that come together: their signatures are verified in a worker. */
import assert from "node:assert/strict";
import type { RunningWorker, StartWorker } from "../../server/base/workers/start_worker.ts";
import { startVerificationWorker } from "../../server/messaging/agents/verification/signature_verifier.ts";
import { startTestRelay } from "../support/relay.ts";
import { spawnRelay } from "../support/spawn_relay.ts";
import { registerAgents, type Target, type TestAgent, toBytes } from "../support/test_agent.ts";
import { realTarget } from "../support/traffic.ts";

const LIMITS = { sendsPerAgentPerMinute: 100_000 };
const TOGETHER = 48;

/** The real worker, seen at work. */
function seenWorker() {
  const seen = { isReady: false, batches: 0, signatures: 0 };
  const running: { worker?: RunningWorker } = {};
  const start: StartWorker = (events) => {
    const worker = startVerificationWorker({
      ...events,
      message(message) {
        events.message(message);
        if (message === "ready") seen.isReady = true;
      },
    });
    running.worker = worker;
    return {
      postMessage(message, transfer) {
        seen.batches++;
        seen.signatures += (message as { job: string[] }).job.length / 3;
        worker.postMessage(message, transfer);
      },
      terminate: () => worker.terminate(),
    };
  };
  return { start, seen, running };
}

let sequence = 0;

/** Good and bad sends at the same time, each refused or accepted on its own. */
async function sendTogether(alice: TestAgent, bob: TestAgent, relay: Target): Promise<void> {
  const sends = Array.from({ length: TOGETHER }, async (_, i) => {
    const body = toBytes({ to: bob.address, body: ++sequence });
    const signed = alice.sign("POST", "/v1/messages", body);
    const foreign = bob.sign("POST", "/v1/messages", body)["X-Relay-Signature"]!;
    const isGood = i % 3 !== 0;
    const answer = await fetch(`${relay.url}/v1/messages`, {
      method: "POST",
      headers: isGood ? signed : { ...signed, "X-Relay-Signature": foreign },
      body,
    });
    const json = await answer.json();
    assert.equal(answer.status, isGood ? 201 : 401, JSON.stringify(json));
    if (!isGood) assert.equal(json.error.code, "invalid_signature");
  });
  await Promise.all(sends);
}

/** How many sends run at the same time depends on the machine: repeated as often as it takes. */
async function sendUntil(isDone: () => boolean, ...who: [TestAgent, TestAgent, Target]) {
  for (let round = 0; !isDone(); round++) {
    assert.ok(round < 200, "the worker was never busy");
    await sendTogether(...who);
  }
}

Deno.test("signed sends that come together are verified in a worker, each with its own verdict", async () => {
  const { start, seen } = seenWorker();
  await using relay = await startTestRelay({ limits: LIMITS, relay: { startWorker: start } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await sendUntil(() => seen.isReady, alice, bob, relay);
  const before = seen.signatures;
  const isShared = () => seen.batches < seen.signatures && seen.signatures > before + TOGETHER;
  await sendUntil(isShared, alice, bob, relay);
  assert.deepEqual(relay.logged, []);
});

Deno.test("signed sends one after the other are verified without a worker", async () => {
  await using relay = await startTestRelay({
    limits: LIMITS,
    relay: { startWorker: () => assert.fail("no worker is wanted") },
  });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  for (let i = 0; i < 5; i++) await alice.sent({ to: bob.address, body: i });
  assert.deepEqual(relay.logged, []);
});

Deno.test("no send is lost when the verification worker dies among them", async () => {
  const { start, seen, running } = seenWorker();
  await using relay = await startTestRelay({ limits: LIMITS, relay: { startWorker: start } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await sendUntil(() => seen.isReady, alice, bob, relay);
  const rounds = [1, 2, 3].map(() => sendTogether(alice, bob, relay));
  running.worker!.postMessage(null, []); // what it cannot read ends it
  await Promise.all(rounds);
  await sendUntil(() => relay.logged.length > 0, alice, bob, relay);
  await sendTogether(alice, bob, relay);
  assert.deepEqual(relay.logged.map(({ event }) => event), ["verification_worker_lost"]);
});

Deno.test("a relay goes on where no verification worker can be started", async () => {
  const startWorker = () => {
    throw new ReferenceError("Worker is not defined");
  };
  await using relay = await startTestRelay({ limits: LIMITS, relay: { startWorker } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await sendUntil(() => relay.logged.length > 0, alice, bob, relay);
  await sendTogether(alice, bob, relay);
  assert.deepEqual(relay.logged.map(({ event }) => event), ["verification_worker_lost"]);
});

Deno.test("the permissions of a relay are enough for its verification worker", async () => {
  await using relay = await spawnRelay({ env: { RELAY_LIMITS: JSON.stringify(LIMITS) } });
  const target = realTarget(relay.url);
  const [alice, bob] = await registerAgents(target, "alice", "bob_1");
  for (let round = 0; round < 10; round++) await sendTogether(alice, bob, target);
  const { code } = await relay.terminate();
  assert.equal(code, 0);
  assert.equal(relay.output().stderr.includes("verification_worker_lost"), false);
  assert.equal(relay.output().stdout.includes("verification_worker_lost"), false);
});
