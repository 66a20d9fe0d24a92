/** GET /v1/leaderboard: order, ties, limits, and the trailing seven days in whole minutes. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import {
  ADMIN_TOKEN,
  readFigures,
  readLeaderboard,
  readStats,
  readWholeFeed,
  recount,
  setBanned,
} from "../../support/figures.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents, type TestAgent } from "../../support/test_agent.ts";

const options = {
  config: { adminToken: ADMIN_TOKEN },
  limits: { registrationsPerIpPerHour: 200, sendsPerAgentPerMinute: 1_000 },
};
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

async function sendTimes(agent: TestAgent, to: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await agent.sent({ to, body: i });
}

const counts = async (relay: { url: string }, query = "limit=100") =>
  (await readLeaderboard(relay, query)).map((entry) => [entry.handle, entry.message_count]);

Deno.test("the leaderboard is sorted by count, ties by handle bytewise", async () => {
  await using relay = await startTestRelay(options);
  // In the order of bytes: digits, then _, then letters.
  const handles = ["b_b", "bab", "b0b", "aaa", "b_a"] as const;
  const agents = await registerAgents(relay, ...handles);
  for (const agent of agents) await sendTimes(agent, "aaa", agent.handle === "bab" ? 3 : 2);
  const expected = [["bab", 3], ["aaa", 2], ["b0b", 2], ["b_a", 2], ["b_b", 2]];
  assert.deepEqual(await counts(relay), expected);
  await relay.relay.crons.figures!();
  assert.deepEqual(await counts(relay), expected, "after the counts were folded");
  assert.deepEqual(await counts(relay, "limit=2"), expected.slice(0, 2));
  const answer = await ask(`${relay.url}/v1/leaderboard`);
  assert.equal(answer.json.window_days, 7);
  assert.deepEqual(Object.keys(answer.json).sort(), ["agents", "window_days"]);
  assert.deepEqual(Object.keys(answer.json.agents[0]).sort(), [
    "handle",
    "message_count",
    "word_name",
  ]);
});

Deno.test("the leaderboard takes 20 unless asked, 1 to 100, and refuses malformed limits", async () => {
  await using relay = await startTestRelay(options);
  const handles = Array.from({ length: 105 }, (_, i) => `agent_${String(i).padStart(3, "0")}`);
  const agents: TestAgent[] = await registerAgents(relay, ...handles);
  await Promise.all(agents.map((agent) => agent.sent({ to: "agent_000", body: 1 })));
  assert.deepEqual(
    (await readLeaderboard(relay)).map(({ handle }) => handle),
    handles.slice(0, 20),
  );
  for (const [limit, length] of [["0", 1], ["-1", 1], ["3", 3], ["101", 100], ["999999", 100]]) {
    assert.equal((await readLeaderboard(relay, `limit=${limit}`)).length, length);
  }
  // The one just outside moves up.
  await setBanned(relay, agents[4]!, true);
  const left = handles.filter((handle) => handle !== "agent_004");
  assert.deepEqual((await counts(relay)).map(([handle]) => handle), left.slice(0, 100));
  for (const query of ["limit=", "limit=ten", "limit=1&limit=2"]) {
    assertRefused(await ask(`${relay.url}/v1/leaderboard?${query}`), "invalid_json", /limit/);
  }
  assert.equal((await readLeaderboard(relay, "before_id=x")).length, 20);
});

for (const folded of [false, true]) {
  const how = folded ? "folded every minute" : "never folded";
  const fold = async (relay: Awaited<ReturnType<typeof startTestRelay>>) => {
    if (folded) await relay.relay.crons.figures!();
  };

  Deno.test(`a minute counts until it lies wholly outside the seven days, ${how}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const { clock } = relay;
    const minuteMs = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS + 10 * MINUTE_MS;
    clock.set(minuteMs); // the first and the last millisecond of one minute
    await sendTimes(alice, "bob_1", 1);
    clock.set(minuteMs + MINUTE_MS - 1);
    await sendTimes(alice, "bob_1", 1);
    clock.set(minuteMs + MINUTE_MS); // and the first of the next
    await sendTimes(bob, "alice", 1);
    await fold(relay);
    const all = [["alice", 2], ["bob_1", 1]];
    for (
      const [atMs, expected] of [
        [minuteMs + 7 * DAY_MS, all],
        [minuteMs + 7 * DAY_MS + MINUTE_MS - 1, all],
        [minuteMs + 7 * DAY_MS + MINUTE_MS, [["bob_1", 1]]],
        [minuteMs + 7 * DAY_MS + 2 * MINUTE_MS - 1, [["bob_1", 1]]],
        [minuteMs + 7 * DAY_MS + 2 * MINUTE_MS, []],
      ] as const
    ) {
      clock.set(atMs);
      await fold(relay);
      assert.deepEqual(await counts(relay), expected, new Date(atMs).toISOString());
    }
    assert.deepEqual(await readStats(relay), { total_messages: 3, total_agents: 2 });
  });

  Deno.test(`feed and mailboxes lose a message at 30 days, total_messages never, ${how}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const { clock } = relay;
    const sentMs = clock.now();
    const id = await alice.sent({ to: "bob_1", body: 1 });
    await fold(relay);
    clock.set(sentMs + 30 * DAY_MS - 1);
    await fold(relay);
    assert.deepEqual((await readWholeFeed(relay)).map((event) => event.id), [id]);
    assert.deepEqual((await bob.outbox()).length, 0);
    assert.equal((await alice.outbox()).length, 1);
    clock.set(sentMs + 30 * DAY_MS);
    await fold(relay);
    const { stats, events, agents } = await readFigures(relay);
    assert.deepEqual([events, agents], [[], []]);
    assert.deepEqual(stats, { total_messages: 1, total_agents: 2 });
    assert.equal((await alice.outbox()).length, 0);
    const later = await bob.sent({ to: "alice", body: 2 });
    assert.deepEqual((await readWholeFeed(relay)).map((event) => event.id), [later]);
    assert.deepEqual(await counts(relay), [["bob_1", 1]]);
  });

  Deno.test(`a send counts no longer than its message is kept, ${how}`, async () => {
    const limits = { ...options.limits, retentionDays: 2 };
    await using relay = await startTestRelay({ ...options, limits });
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const { clock } = relay;
    await sendTimes(alice, "bob_1", 2);
    clock.advance(DAY_MS);
    await sendTimes(bob, "alice", 1);
    await fold(relay);
    assert.deepEqual(await counts(relay), [["alice", 2], ["bob_1", 1]]);
    clock.advance(DAY_MS + 2 * MINUTE_MS);
    await fold(relay);
    assert.deepEqual(await counts(relay), [["bob_1", 1]]);
    await setBanned(relay, alice, true);
    await setBanned(relay, alice, false);
    await fold(relay);
    assert.deepEqual(await counts(relay), [["bob_1", 1]]);
    clock.advance(DAY_MS);
    await fold(relay);
    assert.deepEqual(await counts(relay), []);
    assert.deepEqual(await readStats(relay), { total_messages: 3, total_agents: 2 });
  });

  Deno.test(`an unban after the window restores no count, and within it only what is left, ${how}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const { clock, deps: { kv } } = relay;
    await sendTimes(alice, "bob_1", 3);
    clock.advance(4 * DAY_MS);
    await sendTimes(alice, "bob_1", 2);
    await fold(relay);
    await setBanned(relay, bob, true);
    assert.deepEqual(await counts(relay), []);
    clock.advance(4 * DAY_MS);
    await fold(relay);
    await setBanned(relay, bob, false);
    assert.deepEqual(await counts(relay), [["alice", 2]]);
    assert.equal((await readWholeFeed(relay)).length, 5);
    assert.deepEqual(await readWholeFeed(relay), (await recount(kv, clock.now())).events);
    await setBanned(relay, bob, true);
    clock.advance(4 * DAY_MS);
    await setBanned(relay, bob, false);
    assert.deepEqual(await counts(relay), []);
    assert.equal((await readWholeFeed(relay)).length, 5);
  });
}

Deno.test("the leaderboard outlives restarts, folded or not, and a week without anybody", async () => {
  const kv = await openMemoryKv();
  let clockMs: number;
  const handles = ["alice", "bob_1"] as const;
  let agents: readonly TestAgent[];
  {
    await using relay = await startTestRelay({ ...options, deps: { kv } });
    agents = await registerAgents(relay, ...handles);
    await sendTimes(agents[0]!, "bob_1", 2);
    await relay.relay.crons.figures!();
    await sendTimes(agents[1]!, "alice", 1);
    clockMs = relay.clock.now();
  }
  for (const [days, expected] of [[0, [["alice", 2], ["bob_1", 1]]], [8, []], [15, []]] as const) {
    await using relay = await startTestRelay({
      ...options,
      deps: { kv },
      clockStartMs: clockMs + days * DAY_MS,
    });
    assert.deepEqual(await counts(relay), expected, `${days} days later`);
    assertStatus(await ask(`${relay.url}/v1/feed`), 200);
  }
  await using relay = await startTestRelay({
    ...options,
    deps: { kv },
    clockStartMs: clockMs + 16 * DAY_MS,
  });
  await sendTimes(agents[1]!.at(relay), "alice", 4);
  assert.deepEqual(await counts(relay), [["bob_1", 4]]);
  await relay.relay.crons.figures!();
  assert.deepEqual(await counts(relay), [["bob_1", 4]]);
  await relay.stop();
  kv.close();
});
