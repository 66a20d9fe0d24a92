/** POST /v1/owner-token, and what a token may do. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { registerAgent, registerAgents, TestAgent } from "../support/test_agent.ts";

const PATH = "/v1/owner-token";

Deno.test("owner-token gives a new token and the old one dies with it", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const old = agent.ownerToken;
  const answer = await agent.call("POST", PATH);
  assertStatus(answer, 201);
  assert.deepEqual(Object.keys(answer.json), ["owner_token"]);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const { owner_token: token } = answer.json;
  assert.match(token, /^rt_owner_[A-Za-z0-9_-]{43}$/);
  assert.notEqual(token, old);
  assertRefused(await agent.bearer("GET", "/v1/whoami", { token: old }), "unknown_token");
  assertStatus(await agent.bearer("GET", "/v1/whoami", { token }), 200);
  const rows = (await listRows(relay.deps.kv, { marks: true })).join("\n");
  assert.equal(rows.match(/\[ "token"/g)?.length, 1);
  assert.ok(!rows.includes(token.slice("rt_owner_".length)));
});

Deno.test("owner-token refuses a repeated signature and keeps the token that it gave", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const timestamp = relay.clock.seconds();
  const { owner_token: token } = (await agent.call("POST", PATH, { timestamp })).json;
  const before = await listRows(relay.deps.kv);
  for (const aheadMs of [0, 299_000, 1_999]) {
    relay.clock.advance(aheadMs);
    const again = await agent.call("POST", PATH, { timestamp });
    assertRefused(again, "invalid_signature", /used before/);
  }
  relay.clock.advance(1);
  assertRefused(await agent.call("POST", PATH, { timestamp }), "timestamp_out_of_range");
  assert.deepEqual(await listRows(relay.deps.kv), before);
  assertStatus(await agent.bearer("GET", "/v1/whoami", { token }), 200);
});

Deno.test("owner-token gives one token to one of many equal requests at once", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const answers = await Promise.all(Array.from({ length: 8 }, () => agent.call("POST", PATH)));
  const given = answers.filter(({ status }) => status === 201);
  assert.equal(given.length, 1);
  for (const answer of answers) {
    if (answer.status !== 201) assertRefused(answer, "invalid_signature", /used before/);
  }
  const token = given[0]!.json.owner_token;
  assertStatus(await agent.bearer("GET", "/v1/whoami", { token }), 200);
});

Deno.test("owner-token rotations at once leave exactly one of their tokens alive", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  const now = relay.clock.seconds();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => agent.call("POST", PATH, { timestamp: now + i })),
  );
  const tokens = answers.map(({ status, json }) => {
    assert.equal(status, 201);
    return json.owner_token;
  });
  const alive: number[] = [];
  for (const token of [agent.ownerToken, ...tokens]) {
    alive.push((await agent.bearer("GET", "/v1/whoami", { token })).status);
  }
  assert.equal(alive.filter((status) => status === 200).length, 1);
  assert.equal(alive[0], 401);
});

Deno.test("owner-token signs whatever body there is and reads none of it", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  for (const body of ["", "not json", "{", new Uint8Array([0xff, 0x00])]) {
    assertStatus(await agent.call("POST", PATH, { body }), 201);
  }
  const unsigned = await agent.call("POST", PATH, {
    body: "x",
    headers: agent.sign("POST", PATH),
  });
  assertRefused(unsigned, "invalid_signature");
  const big = new Uint8Array(262_145);
  assertRefused(await agent.call("POST", PATH, { body: big }), "payload_too_large");
  const encoded = { body: "x", headers: { "Content-Encoding": "gzip" } };
  assertRefused(await agent.call("POST", PATH, encoded), "invalid_json", /Content-Encoding/);
});

Deno.test("owner-token takes a signature only and says so to a token", async () => {
  await using relay = await startTestRelay();
  const agent = await registerAgent(relay, "alice");
  assertRefused(await agent.bearer("POST", PATH), "unknown_token", /signed request/);
  assertRefused(await ask(relay.url + PATH, { method: "POST" }), "unknown_token", /credentials/);
  assertRefused(await new TestAgent(relay).call("POST", PATH), "unknown_agent");
  assertStatus(await agent.bearer("GET", "/v1/whoami"), 200);
});

Deno.test("owner-token heals a registration of one's key by a stranger", async () => {
  await using relay = await startTestRelay();
  const agent = new TestAgent(relay);
  const stolen = (await agent.askToRegister({ handle: "stolen" })).json.owner_token;
  const answer = await agent.call("POST", PATH);
  assertStatus(answer, 201);
  assertRefused(await agent.bearer("GET", "/v1/inbox", { token: stolen }), "unknown_token");
});

Deno.test("an owner_token reads whoami, inbox and outbox of its own agent and sends nothing", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const id = await alice.sent({ to: "bob_1", body: "for bob" });
  assert.equal((await bob.bearer("GET", "/v1/whoami")).json.handle, "bob_1");
  assert.equal((await bob.bearer("GET", "/v1/inbox")).json.messages[0].id, id);
  assert.equal((await alice.bearer("GET", "/v1/outbox")).json.messages[0].id, id);
  assert.deepEqual((await bob.bearer("GET", "/v1/outbox")).json, { messages: [], last_id: 0 });
  const request = await bob.bearer("GET", `/v1/messages/${id}/signed-request`);
  assert.equal(request.text, '{"body":"for bob","to":"bob_1"}');
  const before = await listRows(relay.deps.kv);
  for (const body of ['{"to":"alice","body":1}', "", "{", '{"to":7}', '{"to":"nobody","body":1}']) {
    // The holder of the key must sign, whatever the request says.
    assertRefused(await bob.bearer("POST", "/v1/messages", { body }), "key_required", /sign/);
  }
  assert.deepEqual(await listRows(relay.deps.kv), before);
});
