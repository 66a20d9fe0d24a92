/** Idempotency-Key on sends by token: one key is one message for 24 hours, over REST and tools alike. */
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../toolkit/mod.ts";
import { type Answer, ask, assertRefused, assertStatus } from "../../support/answer.ts";
import { setBanned } from "../../support/ban_in_store.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";
import { assertToolRefused, ToolAgent } from "../../support/tool_client.ts";

async function makePair(relay: TestRelay) {
  const sender = await ToolAgent.register(relay.url, "sender");
  const receiver = await registerAgent(relay, "receiver");
  const send = (body: JsonObject, key = "k1") =>
    sender.rest("POST", "/v1/messages", body, { "Idempotency-Key": key });
  return { sender, receiver, send };
}

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
  return tool.rest("POST", "/v1/messages", body, { "Idempotency-Key": key });
}

function assertReplayed(answer: Answer, first: Answer): void {
  assertStatus(answer, 201);
  assert.equal(answer.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(answer.json, first.json);
}

Deno.test("Idempotency-Key refuses another request, whatever else is wrong with it", async () => {
  await using relay = await startTestRelay();
  const { send, sender } = await makePair(relay);
  await registerAgent(relay, "other");
  assertStatus(await send({ to: "receiver", body: "a", in_reply_to: 1 }), 201);
  for (
    const another of [
      { to: "receiver", body: "b", in_reply_to: 1 },
      { to: "other", body: "a", in_reply_to: 1 },
      { to: "@receiver", body: "a", in_reply_to: 1 },
      { to: "receiver", body: "a", in_reply_to: 2 },
      { to: "receiver", body: "a" },
      { to: "receiver", body: '"a"', in_reply_to: 1, content_type: "json" },
      { to: "nobody_at_all", body: "a", in_reply_to: 1 },
      { to: "receiver", body: "a", in_reply_to: 1, content_type: "xml" },
      { to: "receiver", in_reply_to: 1 },
      { to: "receiver", body: "x".repeat(70_000), in_reply_to: 1 },
    ] as JsonObject[]
  ) {
    assertRefused(await send(another), "idempotency_key_reused");
  }
  const malformed = await fetch(`${relay.url}/v1/messages`, {
    method: "POST",
    headers: { Authorization: `Bearer ${sender.token}`, "Idempotency-Key": "k1" },
    body: "{",
  });
  assert.equal((await malformed.json()).error.code, "invalid_json");
});

Deno.test("Idempotency-Key must be 1 to 255 printable ASCII characters", async () => {
  await using relay = await startTestRelay();
  const { send, sender, receiver } = await makePair(relay);
  const request = { to: "receiver", body: "a" };
  for (const key of ["", "x".repeat(256), "a\tb", "\u00e9"]) {
    assertRefused(await send(request, key), "invalid_json", /Idempotency-Key/);
  }
  assertStatus(await send(request, "x".repeat(255)), 201);
  assertStatus(await send(request, "~ !".padEnd(255, "x")), 201);
  const args = { to: "receiver", body: "a" };
  for (const key of ["x".repeat(256), "a\nb", "\u00e9"]) {
    const refused = await sender.call("send_message", { ...args, idempotency_key: key });
    assertToolRefused(refused, "invalid_json", /idempotency_key/);
  }
  assert.equal((await receiver.inbox()).length, 2);
});

Deno.test("Idempotency-Key is not used up by refusals, and counts once against the limit", async () => {
  await using relay = await startTestRelay({ limits: { sendsPerAgentPerMinute: 1 } });
  const { send, receiver } = await makePair(relay);
  assertRefused(await send({ to: "not_there_yet", body: "a" }), "not_found");
  assertRefused(await send({ to: "receiver", body: "a", in_reply_to: 0 }), "invalid_json");
  assertRefused(await send({ to: "receiver" }), "invalid_json");
  const over = "x".repeat(65_535);
  assertRefused(await send({ to: "receiver", body: over }), "payload_too_large");
  const first = await send({ to: "receiver", body: "a" });
  assertStatus(first, 201);
  assertRefused(await send({ to: "receiver", body: "b" }, "k2"), "rate_limited");
  for (let i = 0; i < 3; i++) assertReplayed(await send({ to: "receiver", body: "a" }), first);
  relay.clock.advance(60_000);
  assertStatus(await send({ to: "receiver", body: "c" }, "k2"), 201);
  assert.deepEqual((await receiver.inbox()).map(({ body }) => body), ["a", "c"]);
});

Deno.test("Idempotency-Key: requests at one moment are one message, within and across relays", async () => {
  const folder = await Deno.makeTempDir({ prefix: "relay-custody-" });
  const config = { dataDir: folder, sharedStore: true };
  const kvPath = `${folder}/relay.kv`;
  try {
    await using one = await startTestRelay({ config, kvPath });
    await using two = await startTestRelay({ config, kvPath });
    const { sender, receiver } = await makePair(one);
    const relays = [one, two];
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) =>
        sender.at(relays[i % 2]!.url).rest(
          "POST",
          "/v1/messages",
          { to: "receiver", body: i % 4 === 3 ? "another" : "same" },
          { "Idempotency-Key": "at once" },
        )),
    );
    const accepted = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status !== 201);
    for (const answer of refused) assertRefused(answer, "idempotency_key_reused");
    assert.ok(accepted.length === 12 || accepted.length === 4, String(accepted.length));
    assert.equal(new Set(accepted.map(({ text }) => text)).size, 1);
    const fresh = accepted.filter(({ headers }) => headers.get("idempotent-replayed") === null);
    assert.equal(fresh.length, 1);
    assert.equal((await receiver.inbox()).length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Idempotency-Key replays whatever became of the recipient, but not for a banned sender", async () => {
  const kv = await openMemoryKv();
  try {
    await using relay = await startTestRelay({ deps: { kv }, config: { sharedStore: true } });
    const { send } = await makePair(relay);
    const first = await send({ to: "receiver", body: "a" });
    assertStatus(first, 201);
    await setBanned(kv, "receiver", true);
    assertReplayed(await send({ to: "receiver", body: "a" }), first);
    assertRefused(await send({ to: "receiver", body: "a" }, "k2"), "recipient_banned");
    await setBanned(kv, "sender", true);
    assertRefused(await send({ to: "receiver", body: "a" }), "banned");
    assertRefused(await send({ to: "receiver", body: "a" }, ""), "banned");
  } finally {
    kv.close();
  }
});

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
    assert.equal((await peer.inbox()).length, 1);
    // 24 hours, then the key is free.
    relay.clock.advance(86_400_000 - 1 - 2000);
    assert.equal((await sendKeyed(tool, "k1", same[0]!)).text, first.text);
    relay.clock.advance(1);
    const later = await sendKeyed(tool, "k1", same[0]!);
    assertStatus(later, 201);
    assert.notEqual(later.json.id, first.json.id);
    assertReplayed(await sendKeyed(tool, "k1", same[0]!), later);
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
    assertRefused(await sendKeyed(tool, "", request), "banned");
    assertStatus(await admin("unban", tool.address), 200);
    assert.equal((await sendKeyed(tool, "k", request)).text, first.text);
  }, { limits: { sendsPerAgentPerMinute: 2 }, config: { adminToken: "t".repeat(32) } }));

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
    assert.equal(b.headers.get("idempotent-replayed"), null);
    // The other way round: REST first, then the tool.
    const restFirst = await sendKeyed(tool, "rest", { to: "peer", body: { text: "t" } });
    const args = { to: "peer", body: "t", idempotency_key: "rest" };
    assert.deepEqual(await tool.done("send_message", args), restFirst.json);
    assertToolRefused(
      await tool.call("send_message", { ...args, subject: "other" }),
      "idempotency_key_reused",
    );
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
