/** The contract of stats, feed and leaderboard, told from outside. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgent, registerAgents, type TestAgent } from "../support/test_agent.ts";
import { ToolAgent } from "../support/tool_client.ts";

const OPTIONS = {
  limits: { registrationsPerIpPerHour: 1000, sendsPerAgentPerMinute: 1000 },
  config: { adminToken: "t".repeat(32) },
};

async function get(relay: TestRelay, path: string) {
  const answer = await ask(`${relay.url}${path}`);
  assertStatus(answer, 200);
  return answer.json;
}

/** Stats once they may be as old as they may be. */
async function stats(relay: TestRelay) {
  relay.clock.advance(2000);
  return await get(relay, "/v1/stats");
}

async function admin(relay: TestRelay, verb: "ban" | "unban", pubkey: string): Promise<void> {
  assertStatus(
    await ask(`${relay.url}/v1/admin/${verb}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${"t".repeat(32)}` },
      body: JSON.stringify({ pubkey }),
    }),
    200,
  );
}

Deno.test("stats, feed and leaderboard of an empty relay have exactly their fields", async () => {
  await using relay = await startTestRelay(OPTIONS);
  assert.deepEqual(await get(relay, "/v1/stats"), { total_messages: 0, total_agents: 0 });
  assert.deepEqual(await get(relay, "/v1/feed"), { events: [] });
  assert.deepEqual(await get(relay, "/v1/leaderboard"), { window_days: 7, agents: [] });
});

Deno.test("test handles are the four prefixes alone, and are left out on either side", async () => {
  await using relay = await startTestRelay(OPTIONS);
  const names = [
    "alice",
    "bob",
    "qa_x",
    "sim_x",
    "verify_x",
    "flood_x",
    "qax",
    "simple",
    "my_qa_x",
  ];
  const agents: Record<string, TestAgent> = {};
  for (const name of names) agents[name] = await registerAgent(relay, name);
  await registerAgent(relay, "QA_upper");
  await ToolAgent.register(relay.url, "sim_tool");
  assert.deepEqual(await stats(relay), { total_messages: 0, total_agents: 5 });
  for (const name of ["qa_x", "sim_x", "verify_x", "flood_x"]) {
    await agents[name]!.sent({ to: "alice", body: 1 });
    await agents.alice!.sent({ to: name, body: 1 });
    assertStatus(await ask(`${relay.url}/v1/agents/${name}`), 200);
  }
  assert.deepEqual(await stats(relay), { total_messages: 0, total_agents: 5 });
  assert.deepEqual((await get(relay, "/v1/feed")).events, []);
  assert.deepEqual((await get(relay, "/v1/leaderboard")).agents, []);
  const ids: number[] = [];
  for (const name of ["qax", "simple", "my_qa_x"]) {
    ids.push(await agents[name]!.sent({ to: "bob", body: 1 }));
  }
  assert.deepEqual(await stats(relay), { total_messages: 3, total_agents: 5 });
  const { events } = await get(relay, "/v1/feed");
  assert.deepEqual(events.map(({ id }: { id: number }) => id), ids.toReversed());
  for (const event of events) {
    assert.deepEqual(Object.keys(event).sort(), ["created_at", "from_handle", "id", "to_handle"]);
    assert.match(event.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  assert.equal(events[0].from_handle, "my_qa_x");
  assert.equal(events[0].to_handle, "bob");
});

Deno.test("a ban hides an agent and all its sends, either side; unban brings them back; the total stays", async () => {
  await using relay = await startTestRelay(OPTIONS);
  const [a, b, c] = await registerAgents(relay, "aaa", "bbb", "ccc");
  const pairs = [[a, "bbb"], [b, "ccc"], [c, "aaa"], [c, "bbb"], [a, "aaa"], [b, "bbb"]] as const;
  const ids: number[] = [];
  for (const [from, to] of pairs) ids.push(await from.sent({ to, body: 1 }));
  const feed = async (query = "") =>
    (await get(relay, `/v1/feed${query}`)).events.map(({ id }: { id: number }) => id);
  const board = async (query = "") =>
    (await get(relay, `/v1/leaderboard${query}`)).agents
      .map((
        entry: { handle: string; message_count: number },
      ) => [entry.handle, entry.message_count]);
  assert.deepEqual(await stats(relay), { total_messages: 6, total_agents: 3 });
  assert.deepEqual(await feed(), ids.toReversed());
  assert.deepEqual(await board(), [["aaa", 2], ["bbb", 2], ["ccc", 2]]);
  const [entry] = (await get(relay, "/v1/leaderboard?limit=1")).agents;
  assert.deepEqual(Object.keys(entry).sort(), ["handle", "message_count", "word_name"]);
  assert.equal(entry.word_name, a.wordName);

  await admin(relay, "ban", b.address);
  await admin(relay, "ban", b.address);
  assert.deepEqual(await stats(relay), { total_messages: 6, total_agents: 2 });
  assert.deepEqual(await feed(), [ids[4], ids[2]]);
  assert.deepEqual(await feed("?limit=1"), [ids[4]]);
  assert.deepEqual(await feed(`?limit=1&before_id=${ids[4]}`), [ids[2]]);
  assert.deepEqual(await board(), [["aaa", 1], ["ccc", 1]]);
  await admin(relay, "ban", c.address);
  assert.deepEqual(await stats(relay), { total_messages: 6, total_agents: 1 });
  assert.deepEqual(await feed(), [ids[4]]);
  assert.deepEqual(await board(), [["aaa", 1]]);
  await admin(relay, "unban", b.address);
  await admin(relay, "unban", b.address);
  assert.deepEqual(await stats(relay), { total_messages: 6, total_agents: 2 });
  assert.deepEqual(await feed(), [ids[5], ids[4], ids[0]]);
  assert.deepEqual(await board(), [["aaa", 2], ["bbb", 1]]);
  await admin(relay, "unban", c.address);
  assert.deepEqual(await feed(), ids.toReversed());
  assert.deepEqual(await board(), [["aaa", 2], ["bbb", 2], ["ccc", 2]]);
  assert.deepEqual(await stats(relay), { total_messages: 6, total_agents: 3 });
});

Deno.test("the leaderboard counts seven days in whole minutes, sorts by count and handles bytewise, from 1", async () => {
  // On a minute's first millisecond, then one in the middle of it.
  await using relay = await startTestRelay(OPTIONS);
  const week = 604_800_000;
  const [zed, under, digit, alpha] = await registerAgents(relay, "zed", "a_b", "a1b", "aab");
  const start = relay.clock.now();
  assert.equal(start % 60_000, 0);
  relay.clock.advance(59_999);
  await zed.sent({ to: "aab", body: 1 });
  relay.clock.advance(1);
  for (const agent of [under, digit, alpha]) await agent.sent({ to: "zed", body: 1 });
  await zed.sent({ to: "aab", body: 2 });
  const board = async (query = "") => {
    const { agents } = await get(relay, `/v1/leaderboard${query}`);
    return agents.map((entry: { handle: string; message_count: number }) =>
      `${entry.handle} ${entry.message_count}`
    );
  };
  relay.clock.advance(2000);
  const ties = ["a1b 1", "a_b 1", "aab 1"];
  assert.deepEqual(await board(), ["zed 2", ...ties]);
  assert.deepEqual(await board("?limit=2"), ["zed 2", "a1b 1"]);
  assert.deepEqual(await board("?limit=0"), ["zed 2"]);
  assert.deepEqual(await board("?limit=999"), ["zed 2", ...ties]);
  // zed's first minute [start, start + 60 s) lies wholly outside once now - 7 d >= its end.
  relay.clock.set(start + 59_999 + week);
  assert.deepEqual(await board(), ["zed 2", ...ties]);
  relay.clock.set(start + 60_000 + week + 2000);
  assert.deepEqual(await board(), [...ties, "zed 1"]);
  relay.clock.set(start + 120_000 + week - 1);
  assert.deepEqual(await board(), [...ties, "zed 1"]);
  relay.clock.set(start + 120_000 + week + 2000);
  assert.deepEqual(await board(), []);
  assert.equal((await stats(relay)).total_messages, 5);
  // Thirty days: the feed loses its events, the total stays.
  relay.clock.set(start + 59_999 + 30 * 86_400_000 - 1);
  assert.equal((await get(relay, "/v1/feed")).events.length, 5);
  relay.clock.advance(1);
  assert.equal((await get(relay, "/v1/feed")).events.length, 4);
  relay.clock.advance(1);
  assert.equal((await get(relay, "/v1/feed")).events.length, 0);
  assert.equal((await stats(relay)).total_messages, 5);
});

Deno.test("feed and leaderboard clamp what is an integer and refuse what is none", async () => {
  await using relay = await startTestRelay(OPTIONS);
  const [a] = await registerAgents(relay, "aaa");
  for (let i = 0; i < 230; i++) await a.sent({ to: "aaa", body: i });
  const count = async (query: string) => (await get(relay, `/v1/feed${query}`)).events.length;
  assert.equal(await count(""), 50);
  assert.equal(await count("?limit=9999"), 200);
  assert.equal(await count("?limit=0"), 1);
  assert.equal(await count("?before_id=0"), 0);
  assert.equal(await count("?before_id=99999999999999999999"), 50);
  const seen: number[] = [];
  for (let before = "";;) {
    const { events } = await get(relay, `/v1/feed?limit=70${before}`);
    if (events.length === 0) break;
    for (const { id } of events) seen.push(id);
    before = `&before_id=${seen.at(-1)}`;
  }
  assert.equal(seen.length, 230);
  assert.deepEqual(seen, seen.toSorted((x, y) => y - x));
  for (const query of ["limit=x", "limit=", "limit=1&limit=1", "before_id=x", "before_id="]) {
    const name = new RegExp(query.split("=")[0]!);
    assertRefused(await ask(`${relay.url}/v1/feed?${query}`), "invalid_json", name);
  }
  for (const query of ["limit=x", "limit=", "limit=1&limit=1"]) {
    assertRefused(await ask(`${relay.url}/v1/leaderboard?${query}`), "invalid_json", /limit/);
  }
  assertStatus(await ask(`${relay.url}/v1/leaderboard?before_id=x`), 200);
  // Refused, replayed and repeated sends count nowhere.
  const before = (await stats(relay)).total_messages;
  await a.send({ to: "nobody", body: 1 });
  const timestamp = relay.clock.seconds();
  await a.send({ to: "aaa", body: "r" }, { timestamp });
  await a.send({ to: "aaa", body: "r" }, { timestamp });
  assert.equal((await stats(relay)).total_messages, before + 1);
});

Deno.test("sends by tool count, and an exported agent stays an agent", async () => {
  await using relay = await startTestRelay(OPTIONS);
  const tool = await ToolAgent.register(relay.url, "tool_agent");
  await tool.done("send_message", { to: "tool_agent", body: "x" });
  await tool.rest("POST", "/v1/messages", { to: "tool_agent", body: 1 }, {
    "Idempotency-Key": "k",
  });
  await tool.rest("POST", "/v1/messages", { to: "tool_agent", body: 1 }, {
    "Idempotency-Key": "k",
  });
  assertStatus(await tool.rest("POST", "/v1/keys/export"), 200);
  assert.deepEqual(await stats(relay), { total_messages: 2, total_agents: 1 });
  assert.equal((await get(relay, "/v1/leaderboard")).agents[0].message_count, 2);
});
