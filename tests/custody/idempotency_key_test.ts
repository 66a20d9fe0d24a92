/** Idempotency-Key on sends by token: one key is one message for 24 hours, over REST and tools alike. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../toolkit/mod.ts";
import { type Answer, assertRefused, assertStatus } from "../support/answer.ts";
import { setBanned } from "../support/ban_in_store.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgent, type TestAgent } from "../support/test_agent.ts";
import { assertToolRefused, ToolAgent } from "../support/tool_client.ts";

const DAY_MS = 86_400_000;

interface Pair {
  sender: ToolAgent;
  receiver: TestAgent;
  send(body: JsonObject, key?: string): Promise<Answer>;
}

async function makePair(relay: TestRelay): Promise<Pair> {
  const sender = await ToolAgent.register(relay.url, "sender");
  const receiver = await registerAgent(relay, "receiver");
  const send = (body: JsonObject, key = "k1") =>
    sender.rest("POST", "/v1/messages", body, { "Idempotency-Key": key });
  return { sender, receiver, send };
}

function assertReplayed(answer: Answer, first: Answer): void {
  assertStatus(answer, 201);
  assert.equal(answer.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(answer.json, first.json);
}

Deno.test("Idempotency-Key answers a repetition with the first answer for 24 hours, not a millisecond more", async () => {
  await using relay = await startTestRelay();
  const { receiver, send } = await makePair(relay);
  const first = await send({ to: "receiver", body: "a" });
  assertStatus(first, 201);
  assert.equal(first.headers.get("idempotent-replayed"), null);
  assertReplayed(await send({ to: "receiver", body: "a" }), first);
  // Written differently, asked the same.
  assertReplayed(
    await send({ content_type: null, in_reply_to: null, body: "a", to: "receiver" }),
    first,
  );
  assertReplayed(await send({ content_type: "text", body: "a", to: "receiver" }), first);
  relay.clock.advance(DAY_MS - 1);
  assertReplayed(await send({ to: "receiver", body: "a" }), first);
  relay.clock.advance(1);
  const second = await send({ to: "receiver", body: "a" });
  assertStatus(second, 201);
  assert.notEqual(second.json.id, first.json.id);
  assertReplayed(await send({ to: "receiver", body: "a" }), second);
  assert.equal((await receiver.inbox()).length, 2);
});

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
  assertStatus(await send(request, "a key with ~ !"), 201);
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
  const kv = await Deno.openKv(":memory:");
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

Deno.test("Idempotency-Key is one for REST and the tool, and one an agent", async () => {
  await using relay = await startTestRelay();
  const { send, sender, receiver } = await makePair(relay);
  const first = await send({ to: "receiver", body: { subject: "s", text: "t" } }, "shared");
  const args = { to: "receiver", subject: "s", body: "t", idempotency_key: "shared" };
  assert.deepEqual(await sender.done("send_message", args), first.json);
  assertToolRefused(
    await sender.call("send_message", { ...args, subject: "other" }),
    "idempotency_key_reused",
  );
  const stranger = await ToolAgent.register(relay.url, "stranger");
  const own = await stranger.done("send_message", args);
  assert.notEqual(own.id, first.json.id);
  assert.equal((await receiver.inbox()).length, 2);
});

Deno.test("Idempotency-Key is ignored on signed sends, malformed ones too", async () => {
  await using relay = await startTestRelay();
  const { receiver } = await makePair(relay);
  for (const key of ["k", "k", ""]) {
    const answer = await receiver.send({ to: "sender", body: 1 }, {
      headers: { "Idempotency-Key": key },
    });
    assertStatus(answer, 201);
    assert.equal(answer.headers.get("idempotent-replayed"), null);
  }
});
