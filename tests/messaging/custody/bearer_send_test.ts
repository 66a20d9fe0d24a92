/** Sends by token: the relay signs, and what it signed verifies and is bound to its message. */
import assert from "node:assert/strict";
import { type JsonObject, verifyMessage } from "../../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../../support/answer.ts";
import { TEST_START_MS } from "../../support/clock.ts";
import { type CommitOutcome, createFakeKv, NO_FAULTS } from "../../support/fake_kv.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";

Deno.test("POST /v1/messages by token stores what the relay signed: it verifies and is body-bound", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  const receiver = await registerAgent(relay, "receiver");
  const requests: JsonObject[] = [
    { to: "receiver", body: "text" },
    { to: "@Receiver", body: { text: "hi", n: 1.5 }, in_reply_to: 7, content_type: "text" },
    { to: "receiver", body: '{ "b": [1, 2.0],  "a": null }', content_type: "json" },
    { to: receiver.address, body: null, in_reply_to: null, content_type: null },
    { to: "receiver", body: '"a string"', content_type: "json", in_reply_to: 9007199254740991 },
  ];
  for (const request of requests) {
    assertStatus(await sender.rest("POST", "/v1/messages", request), 201);
  }
  const messages = await receiver.inbox();
  assert.equal(messages.length, requests.length);
  for (const message of messages) {
    const report = await verifyMessage(message, {
      recipient: { address: receiver.address, handle: "receiver" },
      from: sender.address,
      maxSkewSeconds: 2,
    });
    assert.equal(report.signature, "valid");
    assert.equal(report.body, "bound");
    assert.equal(report.addressee, "key");
    assert.equal(report.sender, "pinned");
    assert.equal(report.contentHash, "match");
    assert.equal(report.age.within, true);
  }
  assert.deepEqual(messages.map(({ body }) => body), [
    "text",
    { n: 1.5, text: "hi" },
    { a: null, b: [1, 2] },
    null,
    "a string",
  ]);
  assert.deepEqual(messages.map(({ in_reply_to }) => in_reply_to), [
    null,
    7,
    null,
    null,
    9007199254740991,
  ]);
});

Deno.test("POST /v1/messages by token keeps equal messages apart: each is signed for a second of its own", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  const receiver = await registerAgent(relay, "receiver");
  const began = relay.clock.seconds();
  const answers = await Promise.all(
    Array.from(
      { length: 8 },
      () => sender.rest("POST", "/v1/messages", { to: "receiver", body: 1 }),
    ),
  );
  for (const answer of answers) {
    assertStatus(answer, 201);
    assert.equal(answer.headers.get("idempotent-replayed"), null);
  }
  assert.equal(new Set(answers.map(({ json }) => json.id)).size, 8);
  const messages = await receiver.inbox();
  const seconds = messages.map(({ canonical_string }) =>
    Number(canonical_string.split(":").at(-1))
  );
  assert.deepEqual(seconds.sort(), Array.from({ length: 8 }, (_, i) => began + i));
});

Deno.test("POST /v1/messages by token gives the second of a refused message back", async () => {
  await using relay = await startTestRelay({
    clockStartMs: TEST_START_MS + 500,
    limits: { sendsPerAgentPerMinute: 1 },
  });
  const sender = await ToolAgent.register(relay.url, "sender");
  const receiver = await registerAgent(relay, "receiver");
  const send = () => sender.rest("POST", "/v1/messages", { to: "receiver", body: "again" });
  assertStatus(await send(), 201);
  relay.clock.advance(59_900);
  const second = relay.clock.seconds();
  for (let i = 0; i < 3; i++) assertRefused(await send(), "rate_limited");
  relay.clock.advance(100);
  assert.equal(relay.clock.seconds(), second);
  assertStatus(await send(), 201);
  const [, message] = await receiver.inbox();
  assert.ok(message.canonical_string.endsWith(`:${second}`));
});

Deno.test("POST /v1/messages by token signs the next second where a former process used this one", async () => {
  const folder = await Deno.makeTempDir({ prefix: "relay-custody-" });
  const config = { dataDir: folder };
  const kvPath = `${folder}/relay.kv`;
  try {
    const first = await startTestRelay({ config, kvPath });
    const sender = await ToolAgent.register(first.url, "sender");
    const receiver = await registerAgent(first, "receiver");
    const body = { to: "receiver", body: { text: "same" } };
    assertStatus(await sender.rest("POST", "/v1/messages", body), 201);
    const clockStartMs = first.clock.now();
    await first.stop();
    await using second = await startTestRelay({ config, kvPath, clockStartMs });
    const answer = await sender.at(second.url).rest("POST", "/v1/messages", body);
    assertStatus(answer, 201);
    assert.equal(answer.headers.get("idempotent-replayed"), null);
    const messages = await receiver.at(second).inbox();
    assert.equal(messages.length, 2);
    const ends = messages.map(({ canonical_string }) => canonical_string.split(":").at(-1));
    assert.equal(Number(ends[1]), Number(ends[0]) + 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("POST /v1/messages by two relays on one store never signs twice for one second", async () => {
  const folder = await Deno.makeTempDir({ prefix: "relay-custody-" });
  const config = { dataDir: folder, sharedStore: true };
  const kvPath = `${folder}/relay.kv`;
  try {
    await using one = await startTestRelay({ config, kvPath });
    await using two = await startTestRelay({ config, kvPath });
    const sender = await ToolAgent.register(one.url, "sender");
    const receiver = await registerAgent(one, "receiver");
    const relays = [one, two];
    const answers = await Promise.all(
      Array.from(
        { length: 12 },
        (_, i) =>
          sender.at(relays[i % 2]!.url).rest("POST", "/v1/messages", { to: "receiver", body: "x" }),
      ),
    );
    for (const answer of answers) {
      assertStatus(answer, 201);
      assert.equal(answer.headers.get("idempotent-replayed"), null);
    }
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 12);
    const messages = await receiver.inbox();
    assert.equal(messages.length, 12);
    assert.equal(new Set(messages.map(({ signature }) => signature)).size, 12);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("POST /v1/messages by token refuses in the order of the REST API", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  const self = await registerAgent(relay, "self_custody");
  const send = (body: string, headers = {}) =>
    fetch(`${relay.url}/v1/messages`, {
      method: "POST",
      headers: { Authorization: `Bearer ${sender.token}`, ...headers },
      body,
    }).then(async (answer) => ({ status: answer.status, ...(await answer.json()) }));
  assertRefused(
    await self.bearer("POST", "/v1/messages", { body: "not even json" }),
    "key_required",
  );
  assert.equal((await send("not json")).error.code, "invalid_json");
  assert.equal((await send(JSON.stringify({ body: 1 }))).error.code, "invalid_json");
  const large = JSON.stringify({ to: "nobody_here", body: "x".repeat(65_536) });
  assert.equal((await send(large)).error.code, "payload_too_large");
  assert.equal(
    (await send(JSON.stringify({ to: "nobody_here", body: 1 }))).error.code,
    "not_found",
  );
  assert.equal((await send("x".repeat(300_000))).error.code, "payload_too_large");
  const unknown = await fetch(`${relay.url}/v1/messages`, {
    method: "POST",
    headers: { Authorization: `Bearer rt_mcp_${"A".repeat(43)}` },
    body: "{}",
  });
  assert.equal((await unknown.json()).error.code, "unknown_token");
});

Deno.test("GET /v1/messages/{id}/signed-request gives what the relay signed, a replay of it is no message", async () => {
  await using relay = await startTestRelay();
  const sender = await ToolAgent.register(relay.url, "sender");
  const receiver = await registerAgent(relay, "receiver");
  const sent = await sender.rest("POST", "/v1/messages", { to: "receiver", body: { text: "a" } });
  const path = `/v1/messages/${sent.json.id}/signed-request`;
  const request = await sender.rest("GET", path);
  assert.equal(request.text, `{"body":{"text":"a"},"to":"${receiver.address}"}`);
  const [message] = await receiver.inbox();
  const timestamp = message.canonical_string.split(":").at(-1);
  const replay = await fetch(`${relay.url}/v1/messages`, {
    method: "POST",
    headers: {
      "X-Relay-Pubkey": sender.address,
      "X-Relay-Timestamp": timestamp,
      "X-Relay-Signature": message.signature,
    },
    body: request.text,
  });
  assert.equal(replay.status, 201);
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  assert.deepEqual(await replay.json(), sent.json);
  assert.equal((await receiver.inbox()).length, 1);
});

Deno.test("POST /v1/messages by token over a store whose answers get lost stores each message once", async () => {
  const memory = await openMemoryKv();
  try {
    const kv = createFakeKv({
      kv: memory,
      seed: 5,
      faults: { deniedSuccess: 0.15, lostAnswer: 0.1, locked: 0.15, repeated: 0.15 },
    });
    await using relay = await startTestRelay({ deps: { kv }, config: { sharedStore: true } });
    const sender = await ToolAgent.register(relay.url, "sender");
    const receiver = await registerAgent(relay, "receiver");
    // Three messages are equal, and each second one is asked for twice under a key.
    const asked = Array.from({ length: 24 }, (_, i) => ({
      body: { to: "receiver", body: i % 8 === 0 ? "equal" : `${i}` },
      headers: (i % 2 === 0 ? {} : { "Idempotency-Key": `key ${i}` }) as Record<string, string>,
    }));
    const repeated = asked.filter(({ headers }) => "Idempotency-Key" in headers);
    const answers = await Promise.all(
      [...asked, ...repeated].map(({ body, headers }) =>
        sender.rest("POST", "/v1/messages", body, headers)
      ),
    );
    for (const answer of answers) assertStatus(answer, 201);
    const messages = await receiver.inbox("limit=200");
    const ids = messages.map(({ id }) => id);
    assert.equal(ids.length, asked.length);
    assert.deepEqual(new Set(ids), new Set(answers.map(({ json }) => json.id)));
    assert.equal(new Set(messages.map(({ signature }) => signature)).size, asked.length);
    assert.ok(
      Object.values(kv.faultCounts).every((count) => count > 0),
      JSON.stringify(kv.faultCounts),
    );
    Object.assign(kv.faults, NO_FAULTS); // it is not the shutdown's turn
  } finally {
    memory.close();
  }
});

Deno.test("POST /v1/messages by token knows its own message where its commit lands while it is looked for", async () => {
  using memory = await openMemoryKv();
  let fails = false;
  let late: (() => Promise<CommitOutcome>) | null = null;
  const fake = createFakeKv({
    kv: memory,
    async intercept({ writes }, run) {
      if (!fails || !writes.some(({ key }) => key[0] === "sig")) return await run();
      fails = false;
      late = run;
      throw new TypeError("error sending request");
    },
  });
  const kv: Deno.Kv = Object.assign(Object.create(fake), {
    async get(key: Deno.KvKey) {
      if (key[0] === "sig" && late !== null) {
        assert.ok((await late()).ok);
        late = null;
      }
      return await fake.get(key);
    },
  });
  await using relay = await startTestRelay({ deps: { kv }, config: { sharedStore: true } });
  const sender = await ToolAgent.register(relay.url, "sender");
  const receiver = await registerAgent(relay, "receiver");
  fails = true;
  const answer = await sender.rest("POST", "/v1/messages", { to: "receiver", body: "once" });
  assertStatus(answer, 201);
  assert.equal(fails, false);
  assert.equal(late, null);
  assert.deepEqual((await receiver.inbox()).map(({ id }) => id), [answer.json.id]);
});
