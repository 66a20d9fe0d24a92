/** GET /v1/inbox where memory has all that the answer takes: who calls, and that there is nothing. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

/** An answer of the application itself: a promise where something was waited for. */
function ask(relay: TestRelay, headers: Record<string, string>): Response | Promise<Response> {
  relay.clock.advance(2000); // the floor between polls
  return relay.relay.app.fetch(new Request(`${relay.url}/v1/inbox`, { headers }));
}

for (const shared of [false, true]) {
  const store = shared ? "a shared store" : "an exclusive store";

  Deno.test(`polls of an empty inbox are ${shared ? "not " : ""}answered at once on ${store}`, async () => {
    await using relay = await startTestRelay({ config: { sharedStore: shared } });
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const byToken = () => ask(relay, { Authorization: `Bearer ${alice.ownerToken}` });
    const bySignature = () => ask(relay, alice.sign("GET", "/v1/inbox"));
    const first = await byToken(); // the first one reads the token's record
    assert.equal(first.status, 200);
    for (const poll of [byToken, bySignature]) {
      const answer = poll();
      assert.equal(answer instanceof Promise, shared);
      assert.deepEqual(await (await answer).json(), { messages: [], last_id: 0 });
    }
    const id = await bob.sent({ to: "alice", body: "something" });
    const found = await byToken();
    assert.deepEqual((await found.json()).last_id, id);
  });
}

Deno.test("a token that was replaced is refused at once, also where memory knew its caller", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  for (let poll = 0; poll < 2; poll++) {
    assertStatus(await alice.bearer("GET", "/v1/inbox"), 200);
    relay.clock.advance(2000);
  }
  assertStatus(await alice.call("POST", "/v1/owner-token"), 201);
  assertRefused(await alice.bearer("GET", "/v1/inbox"), "unknown_token");
});

Deno.test("a signature of a handle or a word name is no agent's, also where memory knows the name", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice_of_the_longest_of_handles");
  assertStatus(await alice.poll(), 200);
  for (const name of [alice.handle, alice.wordName, `@${alice.handle}`]) {
    const headers = { ...alice.sign("GET", "/v1/inbox"), "X-Relay-Pubkey": name };
    assert.equal((await ask(relay, headers)).status, 401, name);
  }
});

Deno.test("a poll that is answered at once ends the one that waits", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  assertStatus(await alice.poll(), 200); // from now on a poll waits from when it has come
  relay.clock.advance(2000);
  const arrived = relay.nextRequests();
  const waiting = alice.poll("wait=25&since_id=3");
  await arrived;
  relay.clock.advance(2000);
  assertStatus(await alice.poll(), 200);
  assert.deepEqual((await waiting).json, { messages: [], last_id: 3 });
});
