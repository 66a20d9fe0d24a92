/** What stats, feed and leaderboard count, and what they leave out. */
import assert from "node:assert/strict";
import { askAdmin, readFigures, readStats, setBanned } from "../../support/figures.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent, registerAgents, type TestAgent } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";

const OPTIONS = { limits: { registrationsPerIpPerHour: 100 } };
const EMPTY = { stats: { total_messages: 0, total_agents: 0 }, events: [], agents: [] };

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";
  const options = {
    config: { sharedStore, adminToken: ADMIN_TOKEN },
    limits: { registrationsPerIpPerHour: 100 },
  };

  Deno.test(`figures of an empty network are empty, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    assert.deepEqual(await readFigures(relay), EMPTY);
  });

  Deno.test(`a send counts in all figures at once, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const first = await alice.sent({ to: "bob_1", body: { subject: "hush", text: "secret" } });
    const second = await bob.sent({ to: bob.address, body: 1 });
    const created_at = new Date(relay.clock.now()).toISOString();
    assert.deepEqual(await readFigures(relay), {
      stats: { total_messages: 2, total_agents: 2 },
      events: [
        { id: second, from_handle: "bob_1", to_handle: "bob_1", created_at },
        { id: first, from_handle: "alice", to_handle: "bob_1", created_at },
      ],
      agents: [
        { handle: "alice", word_name: alice.wordName, message_count: 1 },
        { handle: "bob_1", word_name: bob.wordName, message_count: 1 },
      ],
    });
  });

  Deno.test(`test handles on either side are left out of all figures, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const testers = await registerAgents(relay, "qa_one", "sim_one", "verify_one", "flood_one");
    const [alice] = await registerAgents(relay, "alice");
    for (const tester of testers) {
      await tester.sent({ to: "alice", body: 1 });
      await alice.sent({ to: tester.handle, body: 1 });
    }
    assert.deepEqual(await readFigures(relay), {
      ...EMPTY,
      stats: { total_messages: 0, total_agents: 1 },
    });
    // What only resembles them is no test traffic, and they work like anybody.
    const [qa, simple] = await registerAgents(relay, "qaone", "simple_one");
    await qa.sent({ to: "simple_one", body: 1 });
    await simple.sent({ to: "qaone", body: 1 });
    assert.deepEqual(await readStats(relay), { total_messages: 2, total_agents: 3 });
    assert.equal((await alice.inbox()).length, 4);
    assert.equal((await alice.call("GET", "/v1/agents/qa_one")).status, 200);
  });

  Deno.test(`a ban hides what either side sent and restores it, total_messages stays, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
    for (const [from, to] of [[alice, "bob_1"], [bob, "carol"], [carol, "alice"]] as const) {
      await from.sent({ to, body: 1 });
    }
    await bob.sent({ to: "bob_1", body: "to oneself" });
    const before = await readFigures(relay);
    assert.equal(before.events.length, 4);

    await setBanned(relay, bob, true);
    const during = await readFigures(relay);
    assert.deepEqual(during.stats, { total_messages: 4, total_agents: 2 });
    assert.deepEqual(during.events.map((event) => event.from_handle), ["carol"]);
    assert.deepEqual(during.agents.map((agent) => agent.handle), ["carol"]);

    // With both sides of a message banned, it returns with the later unban only.
    await setBanned(relay, alice, true);
    assert.deepEqual((await readFigures(relay)).events, []);
    await setBanned(relay, bob, false);
    const half = await readFigures(relay);
    assert.deepEqual(
      half.events.map(({ from_handle, to_handle }) => [from_handle, to_handle]),
      [["bob_1", "bob_1"], ["bob_1", "carol"]],
    );
    assert.deepEqual(half.agents.map(({ handle, message_count }) => [handle, message_count]), [
      ["bob_1", 2],
    ]);
    await setBanned(relay, alice, false);
    assert.deepEqual(await readFigures(relay), before);
  });

  Deno.test(`a ban of a test handle moves no figure, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [tester] = await registerAgents(relay, "qa_one", "alice");
    await setBanned(relay, tester, true);
    assert.deepEqual(await readStats(relay), { total_messages: 0, total_agents: 1 });
    await setBanned(relay, tester, false);
    assert.deepEqual(await readStats(relay), { total_messages: 0, total_agents: 1 });
  });

  Deno.test(`a repeated ban or unban counts once, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    await alice.sent({ to: "bob_1", body: 1 });
    const before = await readFigures(relay);
    for (const banned of [true, true, false, false, true, false]) {
      await setBanned(relay, bob, banned);
      assert.equal((await readStats(relay)).total_agents, banned ? 1 : 2);
    }
    assert.deepEqual(await readFigures(relay), before);
    await Promise.all([1, 2, 3].map(() => setBanned(relay, bob, true)));
    assert.equal((await readStats(relay)).total_agents, 1);
    assertRefused(await alice.send({ to: "bob_1", body: 1 }), "recipient_banned");
    assertRefused(await askAdmin(relay, "ban", "x".repeat(40)), "invalid_pubkey");
  });

  Deno.test(`a replayed send and a refused one count in no figure, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice] = await registerAgents(relay, "alice", "bob_1");
    const request = { to: "bob_1", body: 1 };
    const timestamp = relay.clock.seconds();
    for (let i = 0; i < 3; i++) {
      assert.equal((await alice.send(request, { timestamp })).status, 201);
    }
    assertRefused(await alice.send({ to: "nobody_here", body: 1 }), "not_found");
    const { stats, events, agents } = await readFigures(relay);
    assert.deepEqual(stats, { total_messages: 1, total_agents: 2 });
    assert.equal(events.length, 1);
    assert.equal(agents[0]!.message_count, 1);
  });
}

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
  assert.deepEqual(await readStats(relay), { total_messages: 0, total_agents: 5 });
  for (const name of ["qa_x", "sim_x", "verify_x", "flood_x"]) {
    await agents[name]!.sent({ to: "alice", body: 1 });
    await agents.alice!.sent({ to: name, body: 1 });
    assertStatus(await ask(`${relay.url}/v1/agents/${name}`), 200);
  }
  assert.deepEqual(await readStats(relay), { total_messages: 0, total_agents: 5 });
  assert.deepEqual((await readFigures(relay)).events, []);
  assert.deepEqual((await readFigures(relay)).agents, []);
  const ids: number[] = [];
  for (const name of ["qax", "simple", "my_qa_x"]) {
    ids.push(await agents[name]!.sent({ to: "bob", body: 1 }));
  }
  assert.deepEqual(await readStats(relay), { total_messages: 3, total_agents: 5 });
  const { events } = await readFigures(relay);
  assert.deepEqual(events.map(({ id }) => id), ids.toReversed());
  assert.equal(events[0]!.from_handle, "my_qa_x");
  assert.equal(events[0]!.to_handle, "bob");
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
  assert.deepEqual(await readStats(relay), { total_messages: 2, total_agents: 1 });
  assert.equal((await readFigures(relay)).agents[0]!.message_count, 2);
});
