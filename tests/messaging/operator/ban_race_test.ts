/** A ban by one process while the agent sends through others. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { assertErrorShape, assertRefused } from "../../support/answer.ts";
import {
  ADMIN_TOKEN,
  type Figures,
  readFigures,
  recount,
  setBanned,
} from "../../support/figures.ts";
import { spawnRelay, startTestRelay, type TestRelay } from "../../support/relay.ts";
import { delay } from "../../support/pace.ts";
import { registerAgents, type TestAgent, toBytes } from "../../support/test_agent.ts";

const SENDERS = 6;
/** A busy machine takes its time for the sweep of some thousand messages. */
const SETTLED_WITHIN_MS = 60_000;

/**
 * Sends one after the other until told to stop.
 * @param ids takes the accepted ones as they come
 * @returns the codes of refusals
 */
async function sendOn(
  agent: TestAgent,
  to: string,
  name: string,
  ids: number[],
  goesOn: () => boolean,
): Promise<Set<string>> {
  const refusals = new Set<string>();
  for (let i = 0; goesOn(); i++) {
    const body = toBytes({ to, body: `${name}/${i}` });
    const timestamp = agent.unusedTimestamp(body);
    const send = () => agent.call("POST", "/v1/messages", { body, timestamp });
    let answer = await send();
    // A store that several write at once may not take it: then the same request, as the answer says.
    for (let tries = 0; answer.status === 503 && tries < 20; tries++) answer = await send();
    if (answer.status === 201) ids.push(answer.json.id);
    else refusals.add(assertErrorShape(answer));
  }
  return refusals;
}

/** The figures, as soon as the sweep of the last ban or unban has come to its end. */
async function settledFigures(relay: TestRelay): Promise<Figures> {
  const { kv } = relay.deps;
  const expected = await recount(kv, relay.clock.now());
  const deadlineMs = performance.now() + SETTLED_WITHIN_MS;
  while (performance.now() < deadlineMs) {
    const figures = await readFigures(relay, 200);
    assert.deepEqual(figures.stats, expected.stats);
    if (isDeepStrictEqual(figures, expected)) break;
    await delay(50);
  }
  const figures = await readFigures(relay, 200);
  assert.deepEqual(figures, expected);
  return figures;
}

async function raceBans(relays: readonly TestRelay[], others: readonly { url: string }[]) {
  const [first] = relays;
  const [bob, alice] = await registerAgents(first!, "bob_1", "alice");
  const through = (i: number) => ({ url: others[i % others.length]!.url, clock: first!.clock });
  const accepted: number[] = [];

  for (let round = 0; round < 3; round++) {
    let sending = true;
    const sent: number[] = [];
    const loops = Array.from(
      { length: SENDERS },
      (_, i) =>
        i % 2 === 0
          ? sendOn(bob.at(through(i)), "alice", `${round}/${i}`, sent, () => sending)
          : sendOn(alice.at(through(i)), "bob_1", `${round}/${i}`, sent, () => sending),
    );
    const ended = Promise.allSettled(loops);
    try {
      while (sent.length <= 20) await delay(5); // until the traffic runs
      await setBanned(first!, bob, true);
      // From the answer on, nothing of it gets through, whichever process is asked.
      for (let i = 0; i < 2 * others.length; i++) {
        const [bobThere, aliceThere] = [bob.at(through(i)), alice.at(through(i))];
        assertRefused(await bobThere.send({ to: "alice", body: "late" }), "banned");
        assertRefused(await aliceThere.send({ to: "bob_1", body: "late" }), "recipient_banned");
        const patch = { body: { tags: [] } };
        assertRefused(await bobThere.call("PATCH", "/v1/agents/me", patch), "banned");
        assertRefused(await aliceThere.call("GET", "/v1/agents/bob_1"), "not_found");
      }
    } finally {
      sending = false;
      await ended;
    }
    for (const [i, loop] of loops.entries()) {
      assert.deepEqual([...await loop], [i % 2 === 0 ? "banned" : "recipient_banned"]);
    }
    accepted.push(...sent);
    const during = await settledFigures(first!);
    assert.deepEqual([during.events, during.agents], [[], []]);
    assert.equal(during.stats.total_messages, accepted.length);
    await setBanned(first!, bob, false);
    const after = await settledFigures(first!);
    assert.deepEqual(after.events.map(({ id }) => id), accepted.toSorted((a, b) => b - a));
  }
}

const limits = { sendsPerAgentPerMinute: 1_000_000 };

Deno.test("a ban stops an agent that is sending, on an exclusive store", async () => {
  await using relay = await startTestRelay({ config: { adminToken: ADMIN_TOKEN }, limits });
  await raceBans([relay], [relay]);
});

Deno.test("a ban stops an agent that is sending through other processes, on one shared file", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-bans-" });
  try {
    await using relay = await startTestRelay({
      config: { adminToken: ADMIN_TOKEN, sharedStore: true, dataDir },
      kvPath: join(dataDir, "relay.kv"),
      clockStartMs: "real",
      limits,
    });
    const env = {
      RELAY_DATA_DIR: dataDir,
      RELAY_SHARED_STORE: "true",
      RELAY_LIMITS: JSON.stringify(limits),
    };
    await using one = await spawnRelay({ env });
    await using two = await spawnRelay({ env });
    await raceBans([relay], [one, two]);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
