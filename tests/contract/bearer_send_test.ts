/** The contract of sends by token and of Idempotency-Key, told from outside. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../toolkit/mod.ts";
import { type Answer, ask, assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgent, type TestAgent } from "../support/test_agent.ts";
import { assertToolRefused, ToolAgent } from "../support/tool_client.ts";

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

function sendKeyed(tool: ToolAgent, key: string, body: JsonValue): Promise<Answer> {
  return tool.rest("POST", PATH, body, { "Idempotency-Key": key });
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

Deno.test("Idempotency-Key answers the stored 201 byte for byte, however the request is spelt", () =>
  withPair(async ({ relay, tool, peer }) => {
    const first = await sendKeyed(tool, "k1", { to: "peer", body: { b: 2, a: 1 } });
    assertStatus(first, 201);
    const same: JsonValue[] = [
      { body: { a: 1.0, b: 2 }, to: "peer" },
      { to: "peer", body: { b: 2, a: 1 }, in_reply_to: null },
      { to: "peer", body: { b: 2, a: 1 }, content_type: null },
      { to: "peer", body: { b: 2, a: 1 }, content_type: "text" },
      { to: "peer", body: { b: 2, a: 1 }, extra: "ignored" },
    ];
    for (const request of same) {
      const again = await sendKeyed(tool, "k1", request);
      assertStatus(again, 201);
      assert.equal(again.text, first.text);
      assert.equal(again.headers.get("idempotent-replayed"), "true");
    }
    const others: JsonValue[] = [
      { to: "@peer", body: { b: 2, a: 1 } },
      { to: "Peer", body: { b: 2, a: 1 } },
      { to: peer.address, body: { b: 2, a: 1 } },
      { to: "peer", body: { b: 2, a: 2 } },
      { to: "peer", body: { b: 2, a: 1 }, in_reply_to: 1 },
      { to: "peer", body: '{"b":2,"a":1}', content_type: "json" },
      { to: "nobody", body: 1 },
    ];
    for (const request of others) {
      const other = await sendKeyed(tool, "k1", request);
      assertRefused(other, "idempotency_key_reused");
      assert.equal(other.status, 422);
    }
    // A body as json is fingerprinted as given: other white space is another request or the same one,
    // but never a second message.
    assert.equal((await peer.inbox()).length, 1);
    // 24 hours, then the key is free.
    relay.clock.advance(86_400_000 - 1 - 2000);
    assert.equal((await sendKeyed(tool, "k1", same[0]!)).text, first.text);
    relay.clock.advance(1);
    const later = await sendKeyed(tool, "k1", same[0]!);
    assertStatus(later, 201);
    assert.notEqual(later.json.id, first.json.id);
  }));

Deno.test("Idempotency-Key is replayed before every refusal but banned and key_required, whatever became of the recipient", () =>
  withPair(async ({ relay, tool, peer }) => {
    const request = { to: "peer", body: "x" };
    const first = await sendKeyed(tool, "k", request);
    assertStatus(first, 201);
    assertStatus(await sendKeyed(tool, "k2", request), 201);
    assertRefused(await sendKeyed(tool, "k3", request), "rate_limited");
    assert.equal((await sendKeyed(tool, "k", request)).text, first.text);
    const admin = (verb: string, pubkey: string) =>
      ask(`${relay.url}/v1/admin/${verb}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${"t".repeat(32)}` },
        body: JSON.stringify({ pubkey }),
      });
    assertStatus(await admin("ban", peer.address), 200);
    assert.equal((await sendKeyed(tool, "k", request)).text, first.text);
    assertRefused(await sendKeyed(tool, "k3", request), "recipient_banned");
    // The refusals above did not use k3 up.
    assertStatus(await admin("unban", peer.address), 200);
    relay.clock.advance(60_000);
    assertStatus(await sendKeyed(tool, "k3", { to: "peer", body: "another" }), 201);
    assertStatus(await admin("ban", tool.address), 200);
    assertRefused(await sendKeyed(tool, "k", request), "banned");
    assertStatus(await admin("unban", tool.address), 200);
    assert.equal((await sendKeyed(tool, "k", request)).text, first.text);
  }, { limits: { sendsPerAgentPerMinute: 2 }, config: { adminToken: "t".repeat(32) } }));

Deno.test("Idempotency-Key is 1 to 255 printable ASCII characters, and any refusal leaves it free", () =>
  withPair(async ({ tool }) => {
    for (const key of ["", "a".repeat(256), "a\tb", "\u00e9"]) {
      assertRefused(
        await sendKeyed(tool, key, { to: "peer", body: 1 }),
        "invalid_json",
        /Idempotency-Key/i,
      );
    }
    assertStatus(await sendKeyed(tool, "~ !".padEnd(255, "x"), { to: "peer", body: 1 }), 201);
    for (
      const [request, code] of [
        [{ to: "peer" }, "invalid_json"],
        [{ to: "nobody", body: 1 }, "not_found"],
        [{ to: "peer", body: "x".repeat(65_535) }, "payload_too_large"],
      ] as const
    ) assertRefused(await sendKeyed(tool, "free", request), code);
    assertStatus(await sendKeyed(tool, "free", { to: "peer", body: "at last" }), 201);
  }));

Deno.test("Idempotency-Key has one scope an agent: REST and tool share it, agents do not, signed sends ignore it", () =>
  withPair(async ({ relay, tool, peer }) => {
    const viaTool = await tool.done("send_message", {
      to: "peer",
      subject: "s",
      body: "t",
      idempotency_key: "both",
    });
    const viaRest = await sendKeyed(tool, "both", {
      to: "peer",
      body: { text: "t", subject: "s" },
    });
    assertStatus(viaRest, 201);
    assert.equal(viaRest.headers.get("idempotent-replayed"), "true");
    assert.deepEqual(viaRest.json, viaTool);
    assertRefused(
      await sendKeyed(tool, "both", { to: "peer", body: "t" }),
      "idempotency_key_reused",
    );
    assertToolRefused(
      await tool.call("send_message", { to: "peer", body: "t", idempotency_key: "both" }),
      "idempotency_key_reused",
    );
    assert.deepEqual(
      await tool.done("send_message", {
        to: "peer",
        subject: "s",
        body: "t",
        in_reply_to: null,
        idempotency_key: "both",
      }),
      viaTool,
    );
    for (const idempotency_key of ["a".repeat(256), "é", 1]) {
      assertToolRefused(
        await tool.call("send_message", { to: "peer", body: "t", idempotency_key }),
        "invalid_json",
        /idempotency_key/,
      );
    }
    const other = await ToolAgent.register(relay.url, "other_tool");
    const others = await sendKeyed(other, "both", { to: "peer", body: "mine" });
    assertStatus(others, 201);
    assert.equal(others.headers.get("idempotent-replayed"), null);
    const headers = { "Idempotency-Key": "both" };
    const a = await peer.send({ to: "tool_agent", body: 1 }, { headers });
    const b = await peer.send({ to: "tool_agent", body: 2 }, { headers });
    assertStatus(a, 201);
    assertStatus(b, 201);
    assert.notEqual(a.json.id, b.json.id);
    assertStatus(
      await peer.send({ to: "tool_agent", body: 3 }, { headers: { "Idempotency-Key": "" } }),
      201,
    );
  }));

Deno.test("Idempotency-Key makes one message of many equal requests at once, by both doors", () =>
  withPair(async ({ tool, peer }) => {
    const bodies = { to: "peer", body: { text: "once" } };
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => sendKeyed(tool, "race", bodies).then(({ json }) => json)),
      ...Array.from(
        { length: 8 },
        () => tool.done("send_message", { to: "peer", body: "once", idempotency_key: "race" }),
      ),
    ]);
    assert.equal(new Set(answers.map(({ id }) => id)).size, 1);
    assert.equal((await peer.inbox()).length, 1);
  }));

Deno.test("PATCH /v1/agents/me by tool token works, by owner_token is a telling 401, and a replay is 200 that changes nothing", () =>
  withPair(async ({ relay, tool, peer }) => {
    const byToken = await tool.rest("PATCH", "/v1/agents/me", { display_name: " Tool " });
    assertStatus(byToken, 200);
    assert.equal(byToken.json.display_name, "Tool");
    assertRefused(
      await peer.bearer("PATCH", "/v1/agents/me", { body: { description: "x" } }),
      "unknown_token",
      /owner_token|sign/i,
    );
    const timestamp = relay.clock.seconds();
    const body = { description: "first" };
    const first = await peer.call("PATCH", "/v1/agents/me", { body, timestamp });
    assertStatus(first, 200);
    relay.clock.advance(1000);
    assertStatus(
      await peer.call("PATCH", "/v1/agents/me", { body: { description: "second" } }),
      200,
    );
    const replayed = await peer.call("PATCH", "/v1/agents/me", { body, timestamp });
    assertStatus(replayed, 200);
    assert.equal(replayed.json.description, "second");
    assert.equal((await ask(`${relay.url}/v1/agents/peer`)).json.description, "second");
  }));
