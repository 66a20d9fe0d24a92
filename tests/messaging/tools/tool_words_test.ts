/** What tools say to models: the next step, in terms of tools alone; how far to trust received messages. */
import assert from "node:assert/strict";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import {
  assertToolRefused,
  callTool,
  postRpc,
  rpcRequest,
  ToolAgent,
} from "../../support/tool_client.ts";

/** Ways of the REST API, which a client of tools does not have. */
const REST_WORDS = /\b(GET|POST|PATCH|HTTP)\b|\/v1\/|X-Relay|wait=|since_id|\bq=/;

Deno.test("every answer of a tool says what a model can do next", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  const registered = await callTool(relay.url, "register", { handle: "ben" });
  const { token } = registered.structured;
  assert.match(registered.text, new RegExp(`^Authorization: Bearer ${token}$`, "m"));
  assert.match(registered.text, /Keep the token/);
  const sent = await sender.call("send_message", { to: registered.structured.address, body: "b" });
  const { id, content_hash, created_at } = sent.structured;
  assert.ok(sent.text.includes(content_hash) && sent.text.includes(created_at));
  assert.ok(
    sent.text.endsWith(`Sent to @ben (id ${id}). Look for an answer with check_inbox.`),
    sent.text,
  );
  const empty = await sender.call("check_inbox");
  const texts: [string, RegExp][] = [
    [registered.text, /find_agents.*send_message.*check_inbox\.$/],
    [empty.text, /^No messages after 0\. last_id: 0\. .*check_inbox since=0, or with wait_seconds/],
    [(await sender.call("whoami")).text, /check_inbox; write with send_message\.$/],
    [
      (await callTool(relay.url, "find_agents", { query: "ben" })).text,
      /send_message, its handle as to\.$/,
    ],
    [
      (await callTool(relay.url, "find_agents", { query: "xyz" })).text,
      /list_agents for the newest\.$/,
    ],
    [(await sender.call("update_profile", { tags: ["a"] })).text, /with update_profile\.$/],
    [(await callTool(relay.url, "list_agents")).text, /send_message, its handle as to\.$/],
    [
      (await callTool(relay.url, "check_inbox", { token })).text,
      new RegExp(`call check_inbox with since=${id}\\.$`),
    ],
  ];
  for (const [text, ending] of texts) {
    assert.match(text, ending);
    assert.doesNotMatch(text, REST_WORDS);
  }
});

Deno.test("check_inbox says how to reply and what was checked, and each sender's address once", async () => {
  await using relay = await startTestRelay();
  const reader = await ToolAgent.register(relay.url, "reader");
  const sender = await registerAgent(relay, "sender");
  const ids: number[] = [];
  for (let i = 0; i < 3; i++) ids.push(await sender.sent({ to: "reader", body: `${i}` }));
  const { text, structured } = await reader.call("check_inbox");
  assert.equal(text.split(sender.address).length - 1, 1);
  assert.equal(text.split(sender.wordName).length - 1, 1);
  for (const id of ids) assert.match(text, new RegExp(`Message ${id} from @sender[ ,]`));
  assert.match(text, /has checked that the key of each sender signed .* not checked who that is/);
  assert.match(text, /To answer, call send_message with to = .* in_reply_to = /);
  assert.equal(structured.messages.length, 3);
  for (const { from } of structured.messages) assert.equal(from, sender.address);
});

Deno.test("whoami and check_inbox advise no sending to an owner_token, which only reads", async () => {
  await using relay = await startTestRelay();
  const reader = await registerAgent(relay, "reader");
  const sender = await registerAgent(relay, "sender");
  await sender.sent({ to: "reader", body: "hello" });
  const token = reader.ownerToken;
  for (const tool of ["whoami", "check_inbox"]) {
    const { isError, text } = await callTool(relay.url, tool, { token });
    assert.equal(isError, false, text);
    assert.doesNotMatch(text, /send_message/, tool);
    assert.match(text, /check_inbox/, tool);
  }
});

Deno.test("refusals advise what a tool can do, never what only the REST API can", async () => {
  await using relay = await startTestRelay({
    limits: {
      searchesPerIpPerMinute: 1,
      sendsPerAgentPerMinute: 1,
      toolRegistrationsPerIpPerHour: 3,
    },
  });
  const agent = await ToolAgent.register(relay.url, "agent");
  await ToolAgent.register(relay.url, "other");
  const self = await registerAgent(relay, "self_custody");
  const good = { to: "other", body: "b" };
  await agent.done("send_message", { ...good, idempotency_key: "k" });
  await agent.done("check_inbox");
  await callTool(relay.url, "find_agents", { query: "a" });
  const refusals: [string, Parameters<typeof callTool>[2], string, RegExp?][] = [
    ["register", { handle: "agent" }, "handle_taken", /choose another/],
    ["register", { handle: "admin" }, "reserved_handle"],
    ["register", { handle: "x" }, "invalid_handle"],
    ["register", { handle: "fine", tags: ["!"] }, "invalid_json"],
    ["whoami", {}, "unknown_token", /call register first/],
    ["whoami", { token: "rt_mcp_x" }, "unknown_token", /register another agent/],
    ["send_message", { ...good, token: self.ownerToken }, "key_required", /the tool register/],
    ["send_message", { ...good, token: agent.token, to: "nobody" }, "not_found", /find_agents/],
    ["send_message", { ...good, token: agent.token }, "rate_limited", /send again/],
    ["send_message", { token: agent.token, to: "other" }, "invalid_json", /body is required/],
    [
      "send_message",
      { ...good, token: agent.token, body: "c", idempotency_key: "k" },
      "idempotency_key_reused",
    ],
    [
      "send_message",
      { ...good, token: agent.token, body: "x".repeat(70_000) },
      "payload_too_large",
    ],
    ["check_inbox", { token: agent.token }, "rate_limited", /check_inbox .* wait_seconds/],
    ["check_inbox", { token: agent.token, limit: 0.5 }, "invalid_json"],
    ["find_agents", { query: "a" }, "rate_limited", /list_agents without query/],
    ["find_agents", { tags: ["!"] }, "invalid_json"],
    ["list_agents", { query: "x".repeat(201) }, "invalid_json"],
    ["update_profile", { token: self.ownerToken, tags: [] }, "unknown_token"],
    ["update_profile", { token: agent.token, handle: "new" }, "invalid_json"],
    ["update_profile", { token: agent.token, notification_email: "x" }, "invalid_json"],
  ];
  for (const [tool, args, code, advice] of refusals) {
    const refused = await callTool(relay.url, tool, args);
    assertToolRefused(refused, code, advice);
    assert.doesNotMatch(refused.text, REST_WORDS);
  }
  await ToolAgent.register(relay.url, "third");
  const fourth = await callTool(relay.url, "register", { handle: "fourth" });
  assertToolRefused(fourth, "rate_limited", /register again/);
  const { text } = await postRpc(relay.url, rpcRequest("tools/list"));
  assert.doesNotMatch(text, REST_WORDS);
});
