/** Credentials of messaging, and of the operator's pages, that end while a body is on its way. */
import assert from "node:assert/strict";
import { signIn, visit } from "../../messaging/operator/operator.ts";
import { assertStatus } from "../../support/answer.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { holdRequest } from "../../support/held_request.ts";
import { errorCode } from "../../support/raw_http.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents, toBytes } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";

Deno.test("a token that ends while a body is on its way sends, changes and exports nothing", async () => {
  await using relay = await startTestRelay();
  const [bob] = await registerAgents(relay, "bob_1");
  const agent = await ToolAgent.register(relay.url, "leaving");
  const headers = { Authorization: `Bearer ${agent.token}` };
  const call = { name: "send_message", arguments: { token: agent.token, to: "bob_1", body: "x" } };
  const requests = [
    ["POST", "/v1/messages", { to: "bob_1", body: "x" }],
    ["PATCH", "/v1/agents/me", { description: "x" }],
    ["POST", "/v1/keys/export", {}],
    ["POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: call }],
  ] as const;
  const held: Awaited<ReturnType<typeof holdRequest>>[] = [];
  for (const [method, path, body] of requests) {
    const json = { "Content-Type": "application/json", Accept: "application/json" };
    const request = { method, path, headers: { ...headers, ...json }, body: JSON.stringify(body) };
    held.push(await holdRequest(relay, request));
  }
  assertStatus(await agent.rest("POST", "/v1/keys/export"), 200);
  let refused = 0;
  for (const finish of held) {
    const answer = await finish();
    assert.match(answer!.body, /unknown_token/);
    refused++;
  }
  assert.equal(refused, requests.length);
  assert.deepEqual(await bob.inbox(), []);
});

Deno.test("an agent that is banned while a body is on its way sends nothing", async () => {
  await using relay = await startTestRelay({ config: { adminToken: ADMIN_TOKEN } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const body = '{"body":"x","to":"bob_1"}';
  const finish = await holdRequest(relay, {
    method: "POST",
    path: "/v1/messages",
    headers: alice.sign("POST", "/v1/messages", toBytes(body)),
    body,
  });
  const cookie = await signIn(relay);
  const form = { agent: "alice", reason: "", confirmed: "yes" };
  assertStatus(await visit(relay, "/admin/ban", { cookie, form }), 303);
  const answer = await finish();
  assert.deepEqual([answer!.status, errorCode(answer!)], [403, "banned"]);
  assert.deepEqual(await bob.inbox(), []);
});

Deno.test("a session that ends while a form is on its way bans, unbans and purges nobody", async () => {
  await using relay = await startTestRelay({ config: { adminToken: ADMIN_TOKEN } });
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  let refused = 0;
  for (const action of ["ban", "unban", "purge"]) {
    const cookie = await signIn(relay);
    const finish = await holdRequest(relay, {
      method: "POST",
      path: `/admin/${action}`,
      headers: {
        Cookie: cookie,
        Origin: relay.url,
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: "agent=alice&reason=&confirmed=yes",
    });
    assertStatus(await visit(relay, "/admin/sign-out", { cookie, form: {} }), 303);
    const answer = await finish();
    assert.equal(answer!.status, 401, action);
    assert.match(answer!.body, /the session has ended/);
    refused++;
  }
  assert.equal(refused, 3);
  assertStatus(await alice.send({ to: "bob_1", body: "still here" }), 201);
});
