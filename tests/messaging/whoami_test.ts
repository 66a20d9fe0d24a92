/** GET /v1/whoami, and when an agent counts as seen. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { TEST_START_MS } from "../support/clock.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgent, registerAgents, TestAgent } from "../support/test_agent.ts";

Deno.test("whoami answers exactly the record of the contract, by signature and by owner_token", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice", {
    profile: { display_name: "Alice", description: "tests\nrelays", tags: ["b", "a"] },
  });
  relay.clock.advance(5000);
  for (
    const answer of [
      await agent.call("GET", "/v1/whoami"),
      await agent.bearer("GET", "/v1/whoami"),
      await agent.call("GET", "/v1/whoami", { query: "since_id=x&token=" }),
    ]
  ) {
    assertStatus(answer, 200);
    assert.deepEqual(answer.json, {
      handle: "alice",
      word_name: agent.wordName,
      address: agent.address,
      key_custody: "self",
      display_name: "Alice",
      description: "tests\nrelays",
      tags: ["b", "a"],
      created_at: new Date(TEST_START_MS).toISOString(),
    });
  }
});

Deno.test("whoami of a key that nobody registered is unknown_agent", async () => {
  await using relay = await startTestRelay();
  assertRefused(await new TestAgent(relay).call("GET", "/v1/whoami"), "unknown_agent", /register/);
});

Deno.test("last_seen_at is null until the first accepted authenticated request", async () => {
  await using relay = await startTestRelay();
  const [agent, other] = await registerAgents(relay, "alice", "bob_1");
  const lastSeen = async () => (await other.call("GET", "/v1/agents/alice")).json.last_seen_at;
  assert.equal(await lastSeen(), null);
  relay.clock.advance(1000);
  assertRefused(await agent.call("GET", "/v1/whoami", { timestamp: 1 }), "timestamp_out_of_range");
  assertRefused(
    await agent.call("GET", "/v1/whoami", { headers: other.sign("GET", "/v1/inbox") }),
    "invalid_signature",
  );
  assertRefused(await agent.bearer("GET", "/v1/whoami", { token: "x" }), "unknown_token");
  assert.equal(await lastSeen(), null, "a 401 is not seen");
  assertRefused(await agent.bearer("POST", "/v1/owner-token"), "unknown_token");
  assertRefused(await agent.bearer("PATCH", "/v1/agents/me"), "unknown_token");
  assert.equal(await lastSeen(), null, "a 401 for a credential of the wrong kind is not seen");
  assertStatus(await agent.call("HEAD", "/v1/whoami"), 200);
  assert.equal(await lastSeen(), null, "HEAD has no effect");
  assertStatus(await agent.call("GET", "/v1/whoami"), 200);
  assert.equal(await lastSeen(), new Date(relay.clock.now()).toISOString());
  relay.clock.advance(61_000);
  assertStatus(await agent.bearer("GET", "/v1/outbox"), 200);
  assert.equal(await lastSeen(), new Date(relay.clock.now()).toISOString());
});

Deno.test("last_seen_at counts refusals by limit, not replays of an owner_token rotation", async () => {
  await using relay = await startTestRelay();
  const [agent, other] = await registerAgents(relay, "alice", "bob_1");
  const lastSeen = async () => (await other.call("GET", "/v1/agents/alice")).json.last_seen_at;
  const timestamp = relay.clock.seconds();
  assertStatus(await agent.call("POST", "/v1/owner-token", { timestamp }), 201);
  assert.equal(await lastSeen(), new Date(relay.clock.now()).toISOString());
  assertStatus(await agent.poll(), 200);
  relay.clock.advance(1500);
  const seen = await lastSeen();
  assertRefused(await agent.call("POST", "/v1/owner-token", { timestamp }), "invalid_signature");
  assert.equal(await lastSeen(), seen);
  assertRefused(await agent.poll(), "rate_limited");
  assert.equal(await lastSeen(), new Date(relay.clock.now()).toISOString());
});

Deno.test("last_seen_at outlives a restart of the relay", async () => {
  using kv = await openMemoryKv();
  let agent: TestAgent;
  let seen: string;
  {
    await using relay = await startTestRelay({ deps: { kv } });
    agent = await registerAgent(relay, "alice");
    assertStatus(await agent.call("GET", "/v1/whoami"), 200);
    seen = new Date(relay.clock.now()).toISOString();
  }
  {
    await using relay = await startTestRelay({ deps: { kv } });
    relay.clock.advance(100_000);
    const answer = await agent.at(relay).bearer("GET", "/v1/agents/alice");
    assert.equal(answer.json.last_seen_at, seen);
  }
});
