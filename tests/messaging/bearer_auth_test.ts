/** Bearer authentication, and credentials of both kinds at once. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { askRaw } from "../support/raw_request.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgent, registerAgents } from "../support/test_agent.ts";

const ROUTES = [
  ["GET", "/v1/whoami"],
  ["GET", "/v1/inbox"],
  ["GET", "/v1/outbox"],
  ["GET", "/v1/messages/1/signed-request"],
  ["POST", "/v1/messages"],
  ["POST", "/v1/owner-token"],
] as const;

Deno.test("no credentials, another scheme, an empty or unknown token: unknown_token on every route", async () => {
  await using relay = await startTestRelay();
  const { ownerToken } = await registerAgent(relay, "alice");
  for (const [method, target] of ROUTES) {
    for (
      const [value, message] of [
        [undefined, /no credentials/],
        ["", /no credentials/],
        ["Bearer", /no credentials/],
        [ownerToken, /no credentials/],
        [`Basic ${ownerToken}`, /no credentials/],
        [`Token ${ownerToken}`, /no credentials/],
        [`Bearer\t${ownerToken}`, /no credentials/],
        [`Bearer:${ownerToken}`, /no credentials/],
        [`Bearer  ${ownerToken}`, /not known/],
        [`Bearer ${ownerToken} x`, /not known/],
        [`Bearer ${ownerToken}, Bearer ${ownerToken}`, /not known/],
        [`Bearer ${ownerToken.toLowerCase()}`, /not known/],
        [`Bearer ${ownerToken.replace("owner", "mcp")}`, /not known/],
        [`Bearer ${ownerToken.slice(0, -1)}`, /not known/],
        [`Bearer ${ownerToken}A`, /not known/],
        [`Bearer rt_owner_${"A".repeat(43)}`, /not known/],
        [`Bearer ${"x".repeat(5000)}`, /not known/],
      ] as const
    ) {
      const headers = value === undefined ? [] : [["Authorization", value] as const];
      const answer = await askRaw(relay.port, { method, target, headers });
      assertRefused(answer, "unknown_token", message);
    }
  }
});

Deno.test("the scheme is of any case and the token exact", async () => {
  await using relay = await startTestRelay();
  const { ownerToken } = await registerAgent(relay, "alice");
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
    const headers = { Authorization: `${scheme} ${ownerToken}` };
    assertStatus(await ask(`${relay.url}/v1/whoami`, { headers }), 200);
  }
});

Deno.test("Authorization sent twice is joined and unknown", async () => {
  await using relay = await startTestRelay();
  const { ownerToken } = await registerAgent(relay, "alice");
  const line = ["Authorization", `Bearer ${ownerToken}`] as const;
  const request = { method: "GET", target: "/v1/whoami", headers: [line, line] };
  assertRefused(await askRaw(relay.port, request), "unknown_token");
});

Deno.test("a signature header decides, whatever token comes with it", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const whoami = async (headers: Record<string, string>) =>
    await ask(`${relay.url}/v1/whoami`, { headers });
  const bobsToken = { Authorization: `Bearer ${bob.ownerToken}` };
  const signed = alice.sign("GET", "/v1/whoami");
  assert.equal((await whoami({ ...bobsToken, ...signed })).json.handle, "alice");
  assert.equal((await whoami({ Authorization: "Basic x", ...signed })).json.handle, "alice");
  const { "X-Relay-Pubkey": pubkey, "X-Relay-Signature": signature } = signed;
  assertRefused(await whoami({ ...bobsToken, "X-Relay-Pubkey": pubkey! }), "invalid_signature");
  assertRefused(
    await whoami({ ...bobsToken, "X-Relay-Signature": signature! }),
    "invalid_signature",
  );
  assertRefused(await whoami({ ...bobsToken, "X-Relay-Pubkey": "" }), "invalid_signature");
  const timestamp = { "X-Relay-Timestamp": "1" };
  assert.equal((await whoami({ ...bobsToken, ...timestamp })).json.handle, "bob_1");
  assertRefused(await whoami(timestamp), "unknown_token");
});

Deno.test("options are mixed freely across the API", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const id = await alice.sent({ to: "bob_1", body: 1 });
  assert.equal((await bob.bearer("GET", "/v1/inbox")).json.last_id, id);
  assert.notEqual((await alice.call("GET", "/v1/outbox")).json.messages[0].delivered_at, null);
  assert.notEqual((await alice.bearer("GET", "/v1/outbox")).json.messages[0].delivered_at, null);
});
