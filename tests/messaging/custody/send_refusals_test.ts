/** How sends by token are answered and refused, and in which order. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../../toolkit/mod.ts";
import { ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";

const PATH = "/v1/messages";

async function withPair(
  run: (world: { relay: TestRelay; tool: ToolAgent; peer: TestAgent }) => Promise<void>,
  options: Parameters<typeof startTestRelay>[0] = {},
): Promise<void> {
  await using relay = await startTestRelay(options);
  const tool = await ToolAgent.register(relay.url, "tool_agent");
  const peer = await registerAgent(relay, "peer");
  await run({ relay, tool, peer });
}

Deno.test("POST /v1/messages by token answers exactly id, content_hash, created_at and keeps the order of refusals", () =>
  withPair(async ({ relay, tool, peer }) => {
    const sent = await tool.rest("POST", PATH, { to: "peer", body: "hello" });
    assertStatus(sent, 201);
    assert.deepEqual(Object.keys(sent.json).sort(), ["content_hash", "created_at", "id"]);
    assert.equal(
      sent.json.content_hash,
      "5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a",
    );
    assert.match(sent.json.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(sent.headers.get("idempotent-replayed"), null);

    const url = `${relay.url}${PATH}`;
    const bearer = { Authorization: `Bearer ${tool.token}` };
    // 413 raw before 401, 401 before 400, 400 before 413 canonical, that before 404.
    const big = "x".repeat(256 * 1024 + 1);
    assertRefused(await ask(url, { method: "POST", body: big }), "payload_too_large");
    assertRefused(await ask(url, { method: "POST", body: "{" }), "unknown_token");
    assertRefused(await ask(url, { method: "POST", body: "{", headers: bearer }), "invalid_json");
    assertRefused(await ask(url, { method: "POST", headers: bearer }), "invalid_json");
    const over = "x".repeat(65_535);
    assertRefused(
      await tool.rest("POST", PATH, { to: "nobody", body: over, in_reply_to: 0 }),
      "invalid_json",
      /in_reply_to/,
    );
    assertRefused(await tool.rest("POST", PATH, { to: "nobody", body: over }), "payload_too_large");
    assertStatus(await tool.rest("POST", PATH, { to: "peer", body: "x".repeat(65_534) }), 201);
    assertRefused(await tool.rest("POST", PATH, { to: "nobody", body: 1 }), "not_found");
    // A self-custody agent's token: key_required stands before every look at the body.
    assertRefused(await peer.bearer("POST", PATH, { body: "{" }), "key_required");
    assertRefused(
      await peer.bearer("POST", PATH, { body: "{", headers: { "Idempotency-Key": "" } }),
      "key_required",
    );
  }));

Deno.test("POST /v1/messages by token refuses malformed fields with invalid_json naming them", () =>
  withPair(async ({ tool }) => {
    const cases: [JsonValue, RegExp][] = [
      [{ body: 1 }, /to/],
      [{ to: "peer" }, /body/],
      [{ to: 1, body: 1 }, /to/],
      [{ to: null, body: 1 }, /to/],
      [{ to: "peer", body: 1, in_reply_to: "7" }, /in_reply_to/],
      [{ to: "peer", body: 1, in_reply_to: 1.5 }, /in_reply_to/],
      [{ to: "peer", body: 1, in_reply_to: -1 }, /in_reply_to/],
      [{ to: "peer", body: 1, in_reply_to: true }, /in_reply_to/],
      [{ to: "peer", body: 1, content_type: "html" }, /text.*json/],
      [{ to: "peer", body: 1, content_type: 5 }, /text.*json/],
      [{ to: "peer", body: 1, content_type: "TEXT" }, /text.*json/],
      [{ to: "peer", body: { a: 1 }, content_type: "json" }, /body/],
      [{ to: "peer", body: "{", content_type: "json" }, /inside body/],
      [{ to: "peer", body: '{"a":1,"a":2}', content_type: "json" }, /inside body/],
      [{ to: "peer", body: "9007199254740992", content_type: "json" }, /inside body/],
      [{ to: "peer", body: '"\\ud800"', content_type: "json" }, /inside body/],
      [{ to: "peer", body: "[".repeat(65) + "]".repeat(65), content_type: "json" }, /inside body/],
      [[], /object/],
      ["x", /object/],
      [null, /object/],
    ];
    for (const [request, names] of cases) {
      assertRefused(await tool.rest("POST", PATH, request), "invalid_json", names);
    }
    assertStatus(
      await tool.rest("POST", PATH, {
        to: "peer",
        body: "[".repeat(64) + "]".repeat(64),
        content_type: "json",
        unknown_field: 1,
      }),
      201,
    );
  }));
