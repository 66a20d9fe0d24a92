/** POST /v1/messages: sixty a minute, and what one sender may keep in the store. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents, type TestAgent } from "../support/test_agent.ts";

const MINUTE_MS = 60_000;

async function sendMany(agent: TestAgent, count: number): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => agent.send({ to: "bob_1", body: "equal" })),
  );
  return answers.map(({ status }) => status);
}

for (const shared of [false, true]) {
  const store = shared ? "a shared store" : "an exclusive store";

  Deno.test(`sixty sends a minute are accepted and the 61st is not, on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { sharedStore: shared } });
    const [alice] = await registerAgents(relay, "alice", "bob_1");
    for (let i = 0; i < 60; i++) {
      assertStatus(await alice.send({ to: "bob_1", body: i }), 201);
      relay.clock.advance(100);
    }
    const refused = await alice.send({ to: "bob_1", body: 60 });
    assertRefused(refused, "rate_limited", /60 messages a minute/);
    assert.equal(refused.json.retry_after_ms, MINUTE_MS - 6000);
    relay.clock.advance(MINUTE_MS - 6001);
    const early = await alice.send({ to: "bob_1", body: 61 });
    assertRefused(early, "rate_limited");
    assert.equal(early.json.retry_after_ms, 1);
    relay.clock.advance(1);
    // The window slides: one stamp has left it, so one send fits.
    assertStatus(await alice.send({ to: "bob_1", body: 62 }), 201);
    const next = await alice.send({ to: "bob_1", body: 63 });
    assertRefused(next, "rate_limited");
    assert.equal(next.json.retry_after_ms, 100);
    relay.clock.advance(100);
    assertStatus(await alice.send({ to: "bob_1", body: 64 }), 201);
  });

  Deno.test(`sends at once never pass the limit, on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { sharedStore: shared } });
    const [alice] = await registerAgents(relay, "alice", "bob_1");
    const statuses = await sendMany(alice, 75);
    assert.equal(statuses.filter((status) => status === 201).length, 60);
    assert.equal(statuses.filter((status) => status === 429).length, 15);
    assert.equal((await alice.outbox("limit=200")).length, 60);
  });
}

Deno.test("the limit is each sender's own, and full inboxes do not count", async () => {
  await using relay = await startTestRelay();
  const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
  await sendMany(alice, 60);
  assertStatus(await carol.send({ to: "bob_1", body: 1 }), 201);
  assertStatus(await bob.send({ to: "alice", body: 1 }), 201);
  assertRefused(await alice.send({ to: "alice", body: 1 }), "rate_limited");
});

Deno.test("refusals and replays count nothing", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  const timestamp = relay.clock.seconds() - 10;
  assertStatus(await alice.send({ to: "bob_1", body: "x" }, { timestamp }), 201);
  for (let i = 0; i < 10; i++) {
    assertRefused(await alice.send("{"), "invalid_json");
    assertRefused(await alice.send({ to: "nobody", body: 1 }), "not_found");
    assertStatus(await alice.send({ to: "bob_1", body: "x" }, { timestamp }), 201);
  }
  const statuses = await sendMany(alice, 59);
  assert.deepEqual(new Set(statuses), new Set([201]));
  for (let i = 0; i < 5; i++) {
    const refused = await alice.send({ to: "bob_1", body: "more" });
    assert.equal(refused.json.retry_after_ms, MINUTE_MS);
  }
  assertStatus(await alice.send({ to: "bob_1", body: "x" }, { timestamp }), 201);
  relay.clock.advance(MINUTE_MS);
  assert.deepEqual(new Set(await sendMany(alice, 60)), new Set([201]));
});

Deno.test("a clock that jumped ahead and back blocks nobody for longer than a window", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  const start = relay.clock.now();
  relay.clock.advance(86_400_000);
  await sendMany(alice, 60);
  relay.clock.set(start);
  assert.deepEqual(new Set(await sendMany(alice, 60)), new Set([201]));
  // Within the skew that hosts may have, the stamps count from the newest of them.
  relay.clock.set(start - 5_000);
  const refused = await alice.send({ to: "bob_1", body: "skewed" });
  assertRefused(refused, "rate_limited");
  assert.equal(refused.json.retry_after_ms, MINUTE_MS);
});

Deno.test("an operator's limit is in force and named", async () => {
  await using relay = await startTestRelay({ limits: { sendsPerAgentPerMinute: 2 } });
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  assert.deepEqual((await sendMany(alice, 3)).sort(), [201, 201, 429]);
  assertRefused(await alice.send({ to: "bob_1", body: 1 }), "rate_limited", /at most 2 messages/);
});

Deno.test("a sender's retained bytes are bounded until the oldest day has expired", async () => {
  await using relay = await startTestRelay({ limits: { retainedBytesPerSender: 100_000 } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const large = "x".repeat(45_000);
  await alice.sent({ to: "bob_1", body: large });
  await alice.sent({ to: "bob_1", body: large });
  const refused = await alice.send({ to: "bob_1", body: large });
  assertRefused(refused, "rate_limited", /retained/);
  assertStatus(await bob.send({ to: "alice", body: large }), 201);
  // From noon of this day: its end, then thirty days.
  assert.equal(refused.json.retry_after_ms, 30.5 * 86_400_000);
  relay.clock.advance(refused.json.retry_after_ms - 1);
  assert.equal((await alice.send({ to: "bob_1", body: large })).json.retry_after_ms, 1);
  relay.clock.advance(1);
  assertStatus(await alice.send({ to: "bob_1", body: large }), 201);
});
