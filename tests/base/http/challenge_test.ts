import assert from "node:assert/strict";
import { ask } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { TestAgent } from "../../support/test_agent.ts";

Deno.test("every 401 says by WWW-Authenticate that a bearer token is a way in", async () => {
  await using relay = await startTestRelay();
  const signed = new TestAgent(relay).sign("GET", "/v1/whoami");
  const attempts: [string, RequestInit][] = [
    ["/v1/whoami", {}],
    ["/v1/whoami", { headers: { Authorization: "Bearer x" } }],
    ["/v1/whoami", { headers: signed }],
    ["/v1/whoami", { headers: { ...signed, "X-Relay-Signature": "x" } }],
    ["/v1/whoami", { headers: { ...signed, "X-Relay-Timestamp": "1" } }],
    ["/v1/inbox", { method: "HEAD" }],
    ["/v1/messages", { method: "POST", body: "{}" }],
    ["/v1/agents/me", { method: "PATCH", body: "{}" }],
    ["/v1/keys/export", { method: "POST" }],
    ["/v1/owner-token", { method: "POST" }],
    ["/v1/admin/ban", { method: "POST", body: "{}" }],
  ];
  for (const [path, init] of attempts) {
    const answer = await ask(`${relay.url}${path}`, init);
    assert.equal(answer.status, 401, path);
    assert.equal(answer.headers.get("www-authenticate"), "Bearer", path);
  }
  const { headers } = await ask(`${relay.url}/v1/agents/nobody`);
  assert.equal(headers.get("www-authenticate"), null);
});
