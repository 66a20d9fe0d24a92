/** GET /v1/inbox: one poll every two seconds an agent. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

for (const shared of [false, true]) {
  const store = shared ? "a shared store" : "an exclusive store";
  const options = { config: { sharedStore: shared } };

  Deno.test(`a poll is refused 1,999 ms after the last and accepted at 2,000 ms, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    for (let round = 0; round < 3; round++) {
      assertStatus(await bob.poll(), 200);
      const id = await alice.sent({ to: "bob_1", body: round });
      const atOnce = await bob.poll();
      assertRefused(atOnce, "rate_limited", /2000 ms/);
      assert.equal(atOnce.json.retry_after_ms, 2000);
      relay.clock.advance(1999);
      const early = await bob.poll();
      assertRefused(early, "rate_limited");
      assert.equal(early.json.retry_after_ms, 1);
      const sent = (await alice.outbox()).find((message) => message.id === id);
      assert.equal(sent.delivered_at, null, "a refused poll stamps nothing");
      relay.clock.advance(1);
      assertStatus(await bob.poll(`since_id=${id - 1}`), 200);
      relay.clock.advance(2000);
    }
  });

  Deno.test(`signature and owner_token share one floor, agents do not, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    assertStatus(await bob.poll(), 200);
    assertRefused(await bob.bearer("GET", "/v1/inbox"), "rate_limited");
    assertStatus(await alice.bearer("GET", "/v1/inbox"), 200);
    assertRefused(await alice.poll(), "rate_limited");
    relay.clock.advance(2000);
    assertStatus(await bob.bearer("GET", "/v1/inbox"), 200);
    assertRefused(await bob.poll(), "rate_limited");
  });

  Deno.test(`what is no accepted poll does not move the floor, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [bob] = await registerAgents(relay, "bob_1");
    assertStatus(await bob.poll(), 200);
    for (let i = 0; i < 4; i++) {
      relay.clock.advance(500);
      if (i < 3) assertRefused(await bob.poll(), "rate_limited");
      assertRefused(await bob.poll("limit=x"), "invalid_json");
      assertRefused(await bob.bearer("GET", "/v1/inbox", { token: "x" }), "unknown_token");
      assertStatus(await bob.call("HEAD", "/v1/inbox"), 200);
      assertStatus(await bob.call("GET", "/v1/outbox"), 200);
    }
    assertStatus(await bob.poll(), 200);
  });

  Deno.test(`of polls at once one is accepted, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    await alice.sent({ to: "bob_1", body: 1 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => i % 2 ? bob.poll() : bob.bearer("GET", "/v1/inbox")),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const answer of answers) if (answer.status !== 200) assertRefused(answer, "rate_limited");
  });

  Deno.test(`a clock that jumped ahead and back blocks no poll, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [bob] = await registerAgents(relay, "bob_1");
    const start = relay.clock.now();
    relay.clock.set(start + 3_600_000);
    assertStatus(await bob.poll(), 200);
    relay.clock.set(start);
    assertStatus(await bob.poll(), 200);
    assertRefused(await bob.poll(), "rate_limited");
    // Within the skew that hosts may have the floor holds, never longer than its length.
    relay.clock.set(start - 4_000);
    const skewed = await bob.poll();
    assertRefused(skewed, "rate_limited");
    assert.equal(skewed.json.retry_after_ms, 2000);
  });
}

Deno.test("two relays of one store share the floor", async () => {
  using kv = await openMemoryKv();
  {
    const options = { config: { sharedStore: true }, deps: { kv } };
    await using one = await startTestRelay(options);
    await using two = await startTestRelay(options);
    const [bob] = await registerAgents(one, "bob_1");
    const there = bob.at(two);
    assertStatus(await bob.poll(), 200);
    assertRefused(await there.poll(), "rate_limited");
    for (const relay of [one, two]) relay.clock.advance(2000);
    const answers = await Promise.all([bob.poll(), there.poll(), bob.poll(), there.poll()]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 429, 429, 429]);
  }
});

Deno.test("an empty poll of an exclusive store writes nothing", async () => {
  await using relay = await startTestRelay();
  const [bob] = await registerAgents(relay, "bob_1");
  const rows = async () => {
    const versions: string[] = [];
    for await (const { versionstamp } of relay.deps.kv.list({ prefix: [] })) {
      versions.push(versionstamp);
    }
    return versions;
  };
  const before = await rows();
  for (let i = 0; i < 3; i++) {
    assertStatus(await bob.poll(), 200);
    relay.clock.advance(2000);
  }
  assert.deepEqual(await rows(), before);
});
