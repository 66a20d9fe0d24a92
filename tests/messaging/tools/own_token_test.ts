/** A call that would give the caller's own token away is refused, wherever the token stands. */
import assert from "node:assert/strict";
import { ToolArguments } from "../../../server/base/tool_server/tool_arguments.ts";
import { refuseOwnToken } from "../../../server/messaging/tools/own_token.ts";
import { startTestRelay } from "../../support/relay.ts";
import {
  assertToolRefused,
  callTool,
  ToolAgent,
  type ToolArgs,
} from "../../support/tool_client.ts";

const WORDS = "the body contains your token; whoever reads it could act as you";

/** The same text with every character as an escape of JSON. */
const escaped = (text: string) =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

Deno.test("send_message refuses a body that holds the caller's own token, however the token came", async () => {
  await using relay = await startTestRelay();
  const agent = await ToolAgent.register(relay.url, "agent");
  const other = await ToolAgent.register(relay.url, "other");
  const { token } = agent;
  const leaks: ToolArgs[] = [
    { body: token },
    { body: `it is "${token}", keep it` },
    { body: "b", subject: `my token: ${token}` },
    { body: `Authorization: Bearer ${token}\n` },
    { body: JSON.stringify({ token }) },
    { body: JSON.stringify({ token }), content_type: "json" },
    { body: JSON.stringify({ deep: [{ [token]: 1 }] }), content_type: "json" },
    { body: `"${escaped(token)}"`, content_type: "json" },
    { body: `{"a": "x${escaped(token.slice(0, 9))}${token.slice(9)}"}`, content_type: "json" },
    { body: `{"a": "${escaped(token).toUpperCase().replaceAll("\\U", "\\u")}"}` },
    { body: JSON.stringify(JSON.stringify(`"${escaped(token)}"`)), content_type: "json" },
    { body: token, idempotency_key: "k" },
  ];
  for (const leak of leaks) {
    const given = await agent.call("send_message", { to: "other", ...leak });
    assertToolRefused(given, "invalid_json");
    assert.equal(given.error!.message, WORDS);
    const args = { to: "other", ...leak };
    const byHeader = { Authorization: `Bearer ${token}` };
    const sent = await callTool(relay.url, "send_message", args, byHeader);
    assertToolRefused(sent, "invalid_json");
    assert.equal(sent.error!.message, WORDS);
    // A token in the header that gives way to an argument is the caller's all the same.
    const both = await callTool(
      relay.url,
      "send_message",
      { ...args, token: other.token },
      byHeader,
    );
    assert.equal(both.error?.message, WORDS);
  }
  assert.deepEqual((await other.done("check_inbox")).messages, []);
  // Parts of it, tokens of others and idle headers are no secret of the caller's.
  for (const body of [token.slice(0, 40), token.toUpperCase(), "rt_mcp_"]) {
    await agent.done("send_message", { to: "other", body });
  }
  const args = { token, to: "other", body: "x is a letter", idempotency_key: "k" };
  const idle = await callTool(relay.url, "send_message", args, { Authorization: "Bearer x" });
  assert.equal(idle.isError, false, idle.text);
});

Deno.test("update_profile refuses a profile that holds the caller's own token", async () => {
  await using relay = await startTestRelay();
  const agent = await ToolAgent.register(relay.url, "agent", { description: "before" });
  const leak = await agent.call("update_profile", { description: `write to me: ${agent.token}` });
  assertToolRefused(leak, "invalid_json", /^the description contains your token; /);
  assert.equal((await agent.done("whoami")).description, "before");
});

Deno.test("register refuses a profile that holds the token of the header", async () => {
  await using relay = await startTestRelay();
  const { token } = await ToolAgent.register(relay.url, "agent");
  for (const field of ["display_name", "description"]) {
    const args = { handle: "second", [field]: `mine is ${token}` };
    const leak = await callTool(relay.url, "register", args, { Authorization: `Bearer ${token}` });
    assertToolRefused(leak, "invalid_json", new RegExp(`^the ${field} contains your token; `));
  }
  await ToolAgent.register(relay.url, "second");
});

Deno.test("refuseOwnToken() reads 32 KB of its worst characters in linear time", () => {
  const given = new ToolArguments({ token: `rt_mcp_${"a".repeat(43)}` }, ["token"]);
  const msOf = (sizeBytes: number) => {
    const text = "\\".repeat(sizeBytes);
    const times = Array.from({ length: 7 }, () => {
      const started = performance.now();
      for (let i = 0; i < 20; i++) refuseOwnToken("body", text, given, { bearerToken: null });
      return performance.now() - started;
    });
    return Math.min(...times);
  };
  msOf(8_000);
  const small = msOf(8_000);
  // Linear is four times; quadratic would be sixteen.
  assert.ok(msOf(32_000) < 10 * small + 1, "it grows faster than linear");
});
