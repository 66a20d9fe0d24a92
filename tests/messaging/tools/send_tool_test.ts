/** The tool send_message: POST /v1/messages by token, its text packed, its limits shared. */
import assert from "node:assert/strict";
import { contentHash } from "../../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { assertToolRefused, ToolAgent, type ToolArgs } from "../../support/tool_client.ts";

Deno.test("send_message packs text as {subject?, text} and stores JSON as parsed", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  const receiver = await registerAgent(relay, "receiver");
  const cases: [ToolArgs, unknown, string][] = [
    [{ body: "plain" }, { text: "plain" }, "text"],
    // Clients that force every argument to be there send "" and null.
    [{ body: "", subject: "", idempotency_key: "" }, { text: "" }, "text"],
    [{ body: "{}", subject: "", content_type: "json" }, {}, "json"],
    [
      { body: "b", subject: null, in_reply_to: null, content_type: null, idempotency_key: null },
      { text: "b" },
      "text",
    ],
    [{ body: "b", subject: "s", content_type: "text" }, { subject: "s", text: "b" }, "text"],
    [{ body: "b", subject: null, in_reply_to: null }, { text: "b" }, "text"],
    [{ body: '{"not": "parsed"}' }, { text: '{"not": "parsed"}' }, "text"],
    [{ body: ' [1, {"b": 2, "a": 1}] ', content_type: "json" }, [1, { a: 1, b: 2 }], "json"],
    [{ body: '"text"', content_type: "json", subject: null }, "text", "json"],
    [{ body: "null", content_type: "json" }, null, "json"],
  ];
  for (const [args, body] of cases) {
    const sent = await sender.done("send_message", { to: "receiver", ...args });
    assert.equal(sent.content_hash, contentHash(body as never));
    assert.deepEqual(Object.keys(sent), ["id", "content_hash", "created_at"]);
  }
  const messages = await receiver.inbox();
  assert.deepEqual(messages.map(({ body }) => body), cases.map(([, body]) => body));
  assert.deepEqual(
    messages.map(({ content_type }) => content_type),
    cases.map(([, , contentType]) => contentType),
  );
});

Deno.test("send_message refuses malformed arguments by their names", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  await registerAgent(relay, "receiver");
  const good = { to: "receiver", body: "b" };
  const cases: [ToolArgs, RegExp][] = [
    [{ body: "b" }, /to is required/],
    [{ to: "receiver" }, /body is required/],
    [{ ...good, to: 1 }, /to must be a string/],
    [{ ...good, body: { text: "b" } }, /body must be a string/],
    [{ ...good, body: null }, /body is required/],
    [{ ...good, body: "half \ud83d" }, /body must be Unicode/],
    [{ ...good, subject: 5 }, /subject must be a string/],
    [{ ...good, content_type: "xml" }, /text, json/],
    [{ ...good, content_type: "json" }, /inside body/],
    [{ ...good, body: '{"a":1,"a":2}', content_type: "json" }, /inside body/],
    [{ ...good, body: "{}", content_type: "json", subject: "s" }, /subject/],
    [{ ...good, in_reply_to: 0 }, /in_reply_to/],
    [{ ...good, in_reply_to: 1.5 }, /in_reply_to/],
    [{ ...good, in_reply_to: "1" }, /in_reply_to/],
    [{ ...good, in_reply_to: 9007199254740992 }, /in_reply_to/],
    [{ ...good, idempotency_key: 5 }, /idempotency_key/],
    [{ ...good, message: "b" }, /"message"/],
  ];
  for (const [args, message] of cases) {
    assertToolRefused(await sender.call("send_message", args), "invalid_json", message);
  }
  assertToolRefused(
    await sender.call("send_message", { ...good, body: "x".repeat(65_526) }),
    "payload_too_large",
  );
  await sender.done("send_message", { ...good, body: "x".repeat(65_525) });
});

Deno.test("send_message and POST /v1/messages share one limit a minute and one outbox", async () => {
  await using relay = await startTestRelay({ limits: { sendsPerAgentPerMinute: 2 } });
  const sender = await ToolAgent.register(relay.url, "sender");
  await registerAgent(relay, "receiver");
  const tool = () => sender.call("send_message", { to: "receiver", body: "t" });
  const rest = () => sender.rest("POST", "/v1/messages", { to: "receiver", body: { text: "t" } });
  assert.equal((await tool()).isError, false);
  assertStatus(await rest(), 201);
  assertRefused(await rest(), "rate_limited");
  const refused = await tool();
  assertToolRefused(refused, "rate_limited");
  assert.equal(refused.error!.retry_after_ms, 60_000);
  relay.clock.advance(60_000);
  assert.equal((await tool()).isError, false);
  assert.equal((await sender.rest("GET", "/v1/outbox")).json.messages.length, 3);
});

Deno.test("send_message reaches an agent by every form of its name, itself included", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  for (const to of ["sender", "@SENDER", sender.wordName.toUpperCase(), sender.address]) {
    await sender.done("send_message", { to, body: to });
  }
  assert.equal((await sender.done("check_inbox")).messages.length, 4);
  assertToolRefused(
    await sender.call("send_message", { to: "nobody_here", body: "b" }),
    "not_found",
  );
});

Deno.test("tools count their callers as seen, and no refused token", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  const lastSeen = async () =>
    (await (await fetch(`${relay.url}/v1/agents/sender`)).json()).last_seen_at;
  assert.equal(await lastSeen(), null);
  await sender.call("whoami", { token: "rt_mcp_wrong" });
  assert.equal(await lastSeen(), null);
  await sender.call("whoami");
  assert.equal(await lastSeen(), new Date(relay.clock.now()).toISOString());
});

Deno.test("PATCH /v1/agents/me by the token of the tool server does what update_profile does", async () => {
  await using relay = await startTestRelay();
  const agent = await ToolAgent.register(relay.url, "agent", { description: "before" });
  const patched = await agent.rest("PATCH", "/v1/agents/me", { tags: ["x"] });
  assertStatus(patched, 200);
  assert.deepEqual(patched.json.tags, ["x"]);
  const updated = await agent.done("update_profile", { display_name: " D " });
  assert.deepEqual(updated, { ...patched.json, display_name: "D" });
  const cases: [ToolArgs, RegExp][] = [
    [{ handle: "other" }, /"handle"/],
    [{ notification_email: "nobody" }, /notification_email/],
    [{ description: "\udc00" }, /surrogate/],
  ];
  for (const [args, message] of cases) {
    assertToolRefused(await agent.call("update_profile", args), "invalid_json", message);
  }
  const email = await agent.call("update_profile", { notification_email: "a@example.org" });
  assert.ok(!JSON.stringify(email).includes("example.org"));
  const nulls = { description: null, display_name: null, tags: null, notification_email: null };
  assert.deepEqual(await agent.done("update_profile", nulls), updated);
  assert.deepEqual(await agent.done("update_profile"), updated);
});
