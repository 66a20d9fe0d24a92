/** What the tools refuse, in which words and with which waits, told from outside. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import {
  assertToolRefused,
  callTool,
  ToolAgent,
  type ToolArgs,
} from "../../support/tool_client.ts";

Deno.test("wrong arguments of a tool come back as isError with our codes, naming the argument", async () => {
  await using relay = await startTestRelay();
  const tool = await ToolAgent.register(relay.url, "tool_agent");
  await registerAgent(relay, "peer");
  const send = { to: "peer", body: "b" };
  const cases: [string, ToolArgs, string, RegExp][] = [
    ["register", {}, "invalid_json", /handle/],
    ["register", { handle: 5 }, "invalid_json", /handle/],
    ["register", { handle: "no-hyphen" }, "invalid_handle", /handle/i],
    ["register", { handle: " spaced " }, "invalid_handle", /handle/i],
    ["register", { handle: "@@ab" }, "invalid_handle", /handle/i],
    ["register", { handle: "admin" }, "reserved_handle", /admin|reserved/],
    ["register", { handle: "tool_agent" }, "handle_taken", /handle/],
    ["register", { handle: "okay", tags: "x" }, "invalid_json", /tags/],
    ["register", { handle: "okay", tags: ["no good"] }, "invalid_json", /tags/],
    ["register", { handle: "okay", description: "x".repeat(501) }, "invalid_json", /description/],
    ["register", { handle: "okay", display_name: "x\u202e" }, "invalid_json", /display_name/],
    ["send_message", { body: "b" }, "invalid_json", /to/],
    ["send_message", { to: "peer" }, "invalid_json", /body/],
    ["send_message", { to: "peer", body: { a: 1 } }, "invalid_json", /body/],
    ["send_message", { ...send, subject: 5 }, "invalid_json", /subject/],
    ["send_message", { ...send, content_type: "html" }, "invalid_json", /text.*json/],
    ["send_message", { ...send, content_type: "json" }, "invalid_json", /body/],
    [
      "send_message",
      { to: "peer", body: "{}", subject: "s", content_type: "json" },
      "invalid_json",
      /subject/,
    ],
    ["send_message", { ...send, in_reply_to: 0 }, "invalid_json", /in_reply_to/],
    ["send_message", { ...send, in_reply_to: "5" }, "invalid_json", /in_reply_to/],
    ["send_message", { to: "nobody", body: "b" }, "not_found", /find_agents/],
    ["send_message", { to: "peer", body: "x".repeat(65_536) }, "payload_too_large", /./],
    ["send_message", { to: "peer", body: "\ud800" }, "invalid_json", /surrogate/],
    ["check_inbox", { since: "0" }, "invalid_json", /since/],
    ["check_inbox", { since: 1.5 }, "invalid_json", /since/],
    ["check_inbox", { limit: "5" }, "invalid_json", /limit/],
    ["check_inbox", { unread_only: "true" }, "invalid_json", /unread_only/],
    ["find_agents", { tags: "a" }, "invalid_json", /tags/],
    ["find_agents", { tags: [1] }, "invalid_json", /tags/],
    ["find_agents", { tags: ["a b"] }, "invalid_json", /tag/],
    ["find_agents", { tags: Array.from({ length: 11 }, (_, i) => `t${i}`) }, "invalid_json", /10/],
    ["find_agents", { query: 5 }, "invalid_json", /query/],
    ["find_agents", { query: "x".repeat(201) }, "invalid_json", /200/],
    ["list_agents", { query: "x".repeat(201) }, "invalid_json", /200/],
    ["list_agents", { limit: "5" }, "invalid_json", /limit/],
    ["update_profile", { notification_email: "nope" }, "invalid_json", /notification_email/],
    ["update_profile", { notification_email: "" }, "invalid_json", /notification_email/],
    ["update_profile", { handle: "new" }, "invalid_json", /handle/],
    ["whoami", { extra: 1 }, "invalid_json", /extra/],
    ["whoami", { token: 5 }, "invalid_json", /token/],
  ];
  for (const [name, args, code, names] of cases) {
    const withToken = ["register", "find_agents", "list_agents"].includes(name)
      ? args
      : { token: tool.token, ...args };
    const result = await callTool(relay.url, name, withToken);
    assertToolRefused(result, code, names);
  }
  for (const name of ["whoami", "check_inbox", "update_profile", "send_message"]) {
    const args: ToolArgs = name === "send_message" ? send : {};
    assertToolRefused(await callTool(relay.url, name, args), "unknown_token");
    assertToolRefused(await callTool(relay.url, name, { ...args, token: "" }), "unknown_token");
    assertToolRefused(await callTool(relay.url, name, { ...args, token: "nope" }), "unknown_token");
  }
});

Deno.test("a tool takes the bearer header only where the argument is absent; an owner_token reads, no more", async () => {
  await using relay = await startTestRelay();
  const tool = await ToolAgent.register(relay.url, "tool_agent");
  const self = await registerAgent(relay, "self_agent");
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const byHeader = await callTool(relay.url, "whoami", {}, bearer(tool.token));
  assert.equal(byHeader.structured.handle, "tool_agent");
  const both = await callTool(relay.url, "whoami", { token: self.ownerToken }, bearer(tool.token));
  assert.equal(both.structured.handle, "self_agent");
  assertToolRefused(
    await callTool(relay.url, "whoami", { token: "nope" }, bearer(tool.token)),
    "unknown_token",
  );
  assert.equal(
    (await callTool(relay.url, "check_inbox", { token: self.ownerToken })).isError,
    false,
  );
  assertToolRefused(
    await callTool(relay.url, "send_message", {
      token: self.ownerToken,
      to: "tool_agent",
      body: "x",
    }),
    "key_required",
  );
  assertToolRefused(
    await callTool(relay.url, "update_profile", { token: self.ownerToken, description: "x" }),
    "unknown_token",
    /owner_token|sign/i,
  );
  // One floor for all the ways to poll.
  assertToolRefused(
    await callTool(relay.url, "check_inbox", { token: self.ownerToken }),
    "rate_limited",
  );
  assertRefused(await self.poll(), "rate_limited");
  assertRefused(await self.bearer("GET", "/v1/inbox"), "rate_limited");
});

Deno.test("limits refuse in tools with the wait at the end of the text", async () => {
  await using relay = await startTestRelay({
    limits: {
      sendsPerAgentPerMinute: 1,
      toolRegistrationsPerIpPerHour: 2,
      searchesPerIpPerMinute: 3,
    },
  });
  const tool = await ToolAgent.register(relay.url, "tool_agent");
  await ToolAgent.register(relay.url, "second");
  const third = await callTool(relay.url, "register", { handle: "third" });
  assertToolRefused(third, "rate_limited");
  assert.equal(third.error!.retry_after_ms, 3_600_000);
  assert.match(third.text, / retry_after_ms=3600000$/);
  // A window of its own: REST registrations go on.
  await registerAgent(relay, "by_rest");
  // Taken stands behind 429 and reserved before it.
  assertToolRefused(await callTool(relay.url, "register", { handle: "second" }), "rate_limited");
  assertToolRefused(await callTool(relay.url, "register", { handle: "admin" }), "reserved_handle");

  await tool.done("send_message", { to: "second", body: "x" });
  relay.clock.advance(1500);
  const refused = await tool.call("send_message", { to: "second", body: "x" });
  assert.equal(refused.error!.retry_after_ms, 58_500);
  assertRefused(await tool.rest("POST", "/v1/messages", { to: "second", body: 1 }), "rate_limited");
  await tool.done("check_inbox");
  const poll = await tool.call("check_inbox");
  assert.equal(poll.error!.retry_after_ms, 2000);
  relay.clock.advance(2000);
  await tool.done("check_inbox");

  // find_agents with query or tags, list_agents with query and REST searches are one counter; browse is free.
  for (let i = 0; i < 5; i++) {
    assert.equal((await callTool(relay.url, "find_agents")).isError, false);
    assert.equal((await callTool(relay.url, "list_agents")).isError, false);
    assert.equal(
      (await callTool(relay.url, "find_agents", { query: "  ", tags: [] })).isError,
      false,
    );
  }
  assertToolRefused(await callTool(relay.url, "find_agents", { tags: ["a b"] }), "invalid_json");
  assert.equal((await callTool(relay.url, "find_agents", { query: "tool" })).isError, false);
  assert.equal((await callTool(relay.url, "list_agents", { query: "tool" })).isError, false);
  assertStatus(await ask(`${relay.url}/v1/agents?q=tool`), 200);
  assertToolRefused(await callTool(relay.url, "find_agents", { tags: ["a"] }), "rate_limited");
  assertToolRefused(await callTool(relay.url, "list_agents", { query: "a" }), "rate_limited");
  assertRefused(await ask(`${relay.url}/v1/agents?tags=a`), "rate_limited");
  assert.equal((await callTool(relay.url, "list_agents", { query: "" })).isError, false);
});
