/** POST /v1/messages: 65,536 canonical bytes of body and 262,144 raw bytes of request, to the byte. */
import assert from "node:assert/strict";
import { contentHash, verifyMessage } from "../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { connectRaw, errorCode } from "../support/raw_http.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { registerAgents, toBytes } from "../support/test_agent.ts";

const MAX_BODY = 65_536;
const MAX_RAW = 262_144;
const QUOTES = 2;

/** Characters of each UTF-8 length, and ones whose canonical form is an escape. */
const ALPHABETS: [string, string, number][] = [
  ["ASCII", "x", 1],
  ["2-byte", "é", 2],
  ["3-byte", "€", 3],
  ["4-byte", "\u{1F600}", 4],
  ["escaped in two characters", '"', 2],
  ["escaped in six characters", "\u0001", 6],
  ["LINE SEPARATOR, never escaped", "\u2028", 3],
];

/** A string whose canonical JSON has exactly this many bytes. */
function textOf(sizeBytes: number, character: string, eachBytes: number): string {
  const count = Math.floor((sizeBytes - QUOTES) / eachBytes);
  return character.repeat(count) + "x".repeat(sizeBytes - QUOTES - count * eachBytes);
}

for (const [name, character, eachBytes] of ALPHABETS) {
  Deno.test(`a body of 65,536 canonical bytes is stored, 65,537 are not: ${name}`, async () => {
    await using relay = await startTestRelay();
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const fits = textOf(MAX_BODY, character, eachBytes);
    const exceeds = textOf(MAX_BODY + 1, character, eachBytes);
    const json = (body: string) => ({
      to: "bob_1",
      body: JSON.stringify(body),
      content_type: "json",
    });
    const before = await listRows(relay.deps.kv);
    for (const request of [{ to: "bob_1", body: exceeds }, json(exceeds)]) {
      assertRefused(await alice.send(request), "payload_too_large", /65537 bytes.*65536/);
    }
    assert.deepEqual(await listRows(relay.deps.kv), before);
    await alice.sent({ to: "bob_1", body: fits });
    await alice.sent(json(fits));
    const received = await bob.inbox();
    assert.equal(received.length, 2);
    const { address, handle, wordName } = bob;
    for (const message of received) {
      assert.ok(message.body === fits);
      assert.equal(message.content_hash, contentHash(fits));
      const report = await verifyMessage(message, { recipient: { address, handle, wordName } });
      assert.deepEqual([report.body, report.contentHash], ["bound", "match"]);
    }
    const sent = await alice.outbox();
    assert.equal(sent.length, 2);
    for (const { body } of sent) assert.ok(body === fits);
  });
}

Deno.test("the limit counts canonical bytes, not how the request wrote them", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  // Six raw bytes each, one in canonical form; numbers and spaces shrink as well.
  const escaped = "\\u0078".repeat(MAX_BODY - QUOTES - 1);
  assert.ok(escaped.length > 5 * MAX_BODY);
  assertRefused(
    await alice.send(`{"to":"alice","body":"${escaped}"}`),
    "payload_too_large",
    /262144/,
  );
  const half = "\\u0078".repeat(40_000);
  assertStatus(await alice.send(`{"to":"alice","body":"${half}"}`), 201);
  const spaced = `[${Array(13_107).fill("1.000").join(" , ")}]`;
  assert.ok(spaced.length > MAX_BODY);
  assertStatus(await alice.send(`{"to":"alice","body":${spaced}}`), 201);
  // And others grow: 1e-6 becomes 0.000001.
  const growing = `[${Array(10_000).fill("1e-6").join()}]`;
  assert.ok(growing.length < MAX_BODY);
  assertRefused(
    await alice.send(`{"to":"alice","body":${growing}}`),
    "payload_too_large",
    /90001 bytes/,
  );
});

Deno.test("a document inside body is measured by itself, not by its string", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const quotes = `[${Array(13_107).fill('"\\""').join()}]`; // 4 bytes and a comma each, escaped again outside
  const send = (body: string) => alice.send({ to: "alice", body, content_type: "json" });
  assert.equal(quotes.length, MAX_BODY);
  assertStatus(await send(quotes), 201);
  assertStatus(await send(` ${quotes}\n`), 201);
  assertRefused(await send(quotes.replace("[", "[1,")), "payload_too_large", /65538 bytes/);
});

Deno.test("a request of 262,144 raw bytes is read, one more is refused by its length", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const opening = '{"to":"bob_1","body":"x"';
  const raw = toBytes(opening + " ".repeat(MAX_RAW - opening.length - 1) + "}");
  assert.equal(raw.length, MAX_RAW);
  const id = await alice.sent(raw);
  const kept = await bob.call("GET", `/v1/messages/${id}/signed-request`);
  assert.ok(kept.text === new TextDecoder().decode(raw));
  const [message] = await bob.inbox();
  assert.equal((await verifyMessage(message, { request: raw })).body, "bound");
  const longer = toBytes(opening + " ".repeat(MAX_RAW - opening.length) + "}");
  assertRefused(await alice.send(longer), "payload_too_large", /262144/);
});

Deno.test("a large raw request beside a full body is kept whole", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const body = textOf(MAX_BODY, "\u{1F600}", 4);
  const spaces = " ".repeat(MAX_RAW - MAX_BODY - 23);
  const raw = toBytes(`{"body":${JSON.stringify(body)},${spaces}"to":"@BOB_1"}`);
  assert.ok(raw.length <= MAX_RAW && raw.length > MAX_RAW - 10);
  const id = await alice.sent(raw);
  for (const reader of [alice, bob]) {
    const kept = await reader.call("GET", `/v1/messages/${id}/signed-request`);
    assert.ok(kept.text === new TextDecoder().decode(raw));
  }
  const [message] = await bob.inbox();
  assert.ok(message.body === body);
});

Deno.test("a message under the greatest limits that are allowed fits a commit, on each kind of store", async () => {
  const limits = { bodyBytes: 320 * 1024, rawBodyBytes: 384 * 1024 };
  for (const sharedStore of [false, true]) {
    await using relay = await startTestRelay({ limits, config: { sharedStore } });
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const body = textOf(limits.bodyBytes, "x", 1);
    const members = `"body":"${body}","to":"bob_1"`;
    const raw = toBytes(`{${" ".repeat(limits.rawBodyBytes - members.length - 2)}${members}}`);
    assert.equal(raw.length, limits.rawBodyBytes);
    await alice.sent(raw);
    const [message] = await bob.inbox();
    assert.ok(message.body === body);
  }
});

Deno.test("a chunked request is bounded as it comes, whatever it will be", async () => {
  await using relay = await startTestRelay();
  using connection = await connectRaw(relay.port);
  await connection.send(
    "POST /v1/messages HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  const chunk = "x".repeat(65_536);
  for (let i = 0; i < 5; i++) await connection.send(`10000\r\n${chunk}\r\n`);
  const answer = await connection.answer();
  assert.equal(answer?.status, 413);
  assert.equal(errorCode(answer), "payload_too_large");
});

Deno.test("a page of many full bodies comes back whole", async () => {
  await using relay = await startTestRelay({ limits: { pageBytes: 8 * 1024 * 1024 } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const bodies = Array.from(
    { length: 40 },
    (_, i) => i % 2 === 0 ? textOf(MAX_BODY - i, "x", 1) : textOf(MAX_BODY - i, "€", 3),
  );
  const ids = await Promise.all(bodies.map((body) => alice.sent({ to: "bob_1", body })));
  const received = await bob.inbox("limit=200");
  assert.deepEqual(received.map(({ id }) => id), ids.toSorted((a, b) => a - b));
  assert.deepEqual(new Set(received.map(({ body }) => body)), new Set(bodies));
  assert.ok((await alice.outbox("limit=200")).every(({ delivered_at }) => delivered_at !== null));
});
