/** Routes of this part for a banned agent. The ban is written as another process writes it. */
import assert from "node:assert/strict";
import { type Answer, assertRefused, assertStatus } from "../support/answer.ts";
import { setBanned } from "../support/ban_in_store.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents, TestAgent } from "../support/test_agent.ts";

for (const shared of [false, true]) {
  const store = shared ? "a shared store" : "an exclusive store";
  const config = { sharedStore: shared };

  Deno.test(`a banned agent reads but cannot send, nor be resolved or sent to, on ${store}`, async () => {
    using kv = await openMemoryKv();
    let before: { alice: TestAgent; bob: TestAgent; id: number; answer: Answer; timestamp: number };
    {
      await using relay = await startTestRelay({ config, deps: { kv } });
      const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
      const timestamp = relay.clock.seconds() + 100;
      const answer = await alice.send({ to: "bob_1", body: "to bob" }, { timestamp });
      const id = await bob.sent({ to: "alice", body: "to alice" });
      before = { alice, bob, id, answer, timestamp };
    }
    await setBanned(kv, "bob_1", true);
    {
      await using relay = await startTestRelay({ config, deps: { kv } });
      const [alice, bob] = [before.alice.at(relay), before.bob.at(relay)];
      for (const name of ["bob_1", bob.wordName, bob.address]) {
        assertRefused(await alice.call("GET", `/v1/agents/${name}`), "not_found");
        assertRefused(await alice.send({ to: name, body: 1 }), "recipient_banned");
      }
      // A ban stands before everything that the request itself could be refused for.
      for (const body of ["{", '{"to":"nobody","body":1}', '{"to":"bob_1","body":1}']) {
        assertRefused(await bob.send(body), "banned");
        assertRefused(await bob.bearer("POST", "/v1/messages", { body }), "banned");
      }
      assertStatus(await bob.call("GET", "/v1/whoami"), 200);
      assert.equal((await bob.inbox())[0].body, "to bob");
      assert.equal((await bob.outbox())[0].id, before.id);
      assertStatus(await bob.bearer("GET", "/v1/outbox"), 200);
      assertStatus(await bob.call("GET", `/v1/messages/${before.id}/signed-request`), 200);
      assertStatus(await bob.call("POST", "/v1/owner-token"), 201);
      // What it sent before stays, and a repetition is answered whatever happened to the recipient.
      assert.equal((await alice.inbox())[0].body, "to alice");
      const { timestamp } = before;
      const again = await alice.send({ to: "bob_1", body: "to bob" }, { timestamp });
      assertStatus(again, 201);
      assert.equal(again.text, before.answer.text);
      assertRefused(await new TestAgent(relay).askToRegister({ handle: "bob_1" }), "handle_taken");
    }
  });

  Deno.test(`a repetition by a banned sender is refused, by an unbanned one answered, on ${store}`, async () => {
    using kv = await openMemoryKv();
    const request = { to: "bob_1", body: 1 };
    let alice: TestAgent;
    let first: Answer;
    let timestamp: number;
    {
      await using relay = await startTestRelay({ config, deps: { kv } });
      [alice] = await registerAgents(relay, "alice", "bob_1");
      timestamp = relay.clock.seconds();
      first = await alice.send(request, { timestamp });
    }
    for (const banned of [true, false]) {
      await setBanned(kv, "alice", banned);
      await using relay = await startTestRelay({ config, deps: { kv } });
      const again = await alice.at(relay).send(request, { timestamp });
      if (banned) assertRefused(again, "banned");
      else assert.equal(again.text, first.text);
    }
  });
}

Deno.test("a ban by another process holds from its commit on", async () => {
  await using relay = await startTestRelay({ config: { sharedStore: true } });
  const { kv } = relay.deps;
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const timestamp = relay.clock.seconds();
  const request = { to: "bob_1", body: "first" };
  const first = await alice.send(request, { timestamp });
  await bob.sent({ to: "alice", body: 0 });

  await setBanned(kv, "bob_1", true);
  assertRefused(await alice.send({ to: "bob_1", body: 1 }), "recipient_banned");
  assertRefused(await bob.send({ to: "alice", body: 1 }), "banned");
  assertRefused(await alice.call("GET", "/v1/agents/bob_1"), "not_found");
  assert.equal((await alice.send(request, { timestamp })).text, first.text);
  await setBanned(kv, "bob_1", false);
  assertStatus(await alice.send({ to: "bob_1", body: 2 }), 201);
  assertStatus(await bob.send({ to: "alice", body: 2 }), 201);
  assertStatus(await alice.call("GET", "/v1/agents/bob_1"), 200);

  await setBanned(kv, "alice", true);
  assertRefused(await alice.send(request, { timestamp }), "banned");
  assertRefused(await alice.send({ to: "bob_1", body: 3 }), "banned");
});
