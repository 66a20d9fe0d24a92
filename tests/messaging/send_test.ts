/** POST /v1/messages: what is accepted, what is stored, what both sides see of it. */
import assert from "node:assert/strict";
import { contentHash, type JsonValue, verifyMessage } from "../../toolkit/mod.ts";
import { assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

Deno.test("a send answers exactly id, content_hash and created_at; both sides see the message", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const answer = await alice.send({ to: bob.address, body: "hello" });
  assertStatus(answer, 201);
  const { id, content_hash, created_at, ...rest } = answer.json;
  assert.deepEqual(rest, {});
  assert.equal(content_hash, "5aa762ae383fbb727af3c7a36d4940a5b8c40a989452d2304fc958ff3f354e7a");
  assert.equal(created_at, new Date(relay.clock.now()).toISOString());
  assert.equal(answer.headers.get("idempotent-replayed"), null);
  const timestamp = relay.clock.seconds();

  const [received, ...none] = await bob.inbox();
  assert.deepEqual(none, []);
  const { signature, canonical_string, ...fields } = received;
  assert.deepEqual(fields, {
    id,
    from: alice.address,
    from_handle: "alice",
    from_word_name: alice.wordName,
    body: "hello",
    content_hash,
    in_reply_to: null,
    content_type: "text",
    created_at,
  });
  assert.match(canonical_string, /^relay:v1:POST:\/v1\/messages:[0-9a-f]{64}:[0-9]+$/);
  assert.ok(canonical_string.endsWith(`:${timestamp}`));
  assert.match(signature, /^[A-Za-z0-9+/]{86}==$/);

  assert.deepEqual(await alice.outbox(), [{
    id,
    to: bob.address,
    to_handle: "bob_1",
    to_word_name: bob.wordName,
    body: "hello",
    content_hash,
    created_at,
    delivered_at: new Date(relay.clock.now()).toISOString(),
  }]);
});

Deno.test("`to` takes every address form, with @ and in capitals", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const forms = [
    "bob_1",
    "@bob_1",
    "BOB_1",
    "@Bob_1",
    bob.wordName,
    bob.wordName.toUpperCase(),
    bob.address,
  ];
  const ids: number[] = [];
  for (const to of forms) ids.push(await alice.sent({ to, body: to }));
  const received = await bob.inbox();
  assert.deepEqual(received.map(({ id }) => id), ids);
  assert.deepEqual(received.map(({ body }) => body), forms);
  const { handle, wordName, address } = bob;
  for (const [index, addressee] of ["handle", "handle"].entries()) {
    const report = await verifyMessage(received[index], {
      recipient: { address, handle, wordName },
    });
    assert.deepEqual([report.body, report.addressee], ["bound", addressee]);
  }
});

Deno.test("a text body may be any JSON value, null included, and comes back equal", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const bodies: JsonValue[] = [
    null,
    true,
    0,
    -0,
    1.5e300,
    5e-324,
    1e21,
    2 ** 53 - 1,
    "",
    "\u0000\u001f\u2028\u{1F600}\ufeff",
    [],
    {},
    [[[null]]],
    { "": 0, "\u20ac": 1, "\r": 2, "1": 3, "\u{1F600}": 4, "\ufb33": 5, "ö": 6 },
    { subject: "x", text: "y", id: 7, in_reply_to: 8 },
  ];
  for (const body of bodies) await alice.sent({ to: "bob_1", body });
  const received = await bob.inbox();
  assert.equal(received.length, bodies.length);
  for (const [index, message] of received.entries()) {
    const expected = Object.is(bodies[index], -0) ? 0 : bodies[index]!;
    assert.deepEqual(message.body, expected);
    assert.equal(message.content_hash, contentHash(expected));
    assert.equal(message.content_type, "text");
  }
});

Deno.test("content_type json stores and returns the parsed document", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const documents: [string, JsonValue][] = [
    ['{"b":1,"a":[1.0,2e0]}', { a: [1, 2], b: 1 }],
    [' "text" ', "text"],
    ["null", null],
    ["\n-0\t", 0],
    ["[]", []],
    ['"\\u00e9"', "é"],
  ];
  for (const [body] of documents) await alice.sent({ to: "bob_1", body, content_type: "json" });
  const received = await bob.inbox();
  assert.equal(received.length, documents.length);
  for (const [index, message] of received.entries()) {
    const [, document] = documents[index]!;
    assert.deepEqual(message.body, document);
    assert.equal(message.content_hash, contentHash(document));
    assert.equal(message.content_type, "json");
  }
  assert.deepEqual((await alice.outbox()).map(({ body }) => body), documents.map(([, d]) => d));
});

Deno.test("in_reply_to takes any number that is a positive safe integer, of a message or none", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const forms: [string, number | null][] = [
    ["1", 1],
    ["2.0", 2],
    ["2e3", 2000],
    ["12300e-2", 123],
    ["9007199254740991", 2 ** 53 - 1],
    ["null", null],
  ];
  for (const [written] of forms) {
    await alice.sent(`{"to":"bob_1","body":"x","in_reply_to":${written}}`);
  }
  await alice.sent({ to: "bob_1", body: "x" });
  const shown = (await bob.inbox()).map(({ in_reply_to }) => in_reply_to);
  assert.deepEqual(shown, [...forms.map(([, value]) => value), null]);
});

Deno.test("the in_reply_to field is authoritative, whatever the body carries", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await alice.sent({ to: "bob_1", body: { in_reply_to: 1, text: "a" }, in_reply_to: 2 });
  await alice.sent({ to: "bob_1", body: { in_reply_to: 1, text: "a" } });
  assert.deepEqual((await bob.inbox()).map(({ in_reply_to }) => in_reply_to), [2, null]);
});

Deno.test("optional fields that are null, and unknown fields, are as absent", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await alice.sent({ to: "bob_1", body: 1, in_reply_to: null, content_type: null });
  await alice.sent({ to: "bob_1", body: 2, subject: "s", id: 9, from: "mallory", __v: 1 });
  await alice.sent('{"to":"bob_1","body":3,"__proto__":{"to":"mallory","content_type":"json"}}');
  const received = await bob.inbox();
  assert.deepEqual(received.map(({ body }) => body), [1, 2, 3]);
  for (const message of received) {
    assert.deepEqual([message.in_reply_to, message.content_type], [null, "text"]);
    assert.equal(message.from, alice.address);
  }
});

Deno.test("members named __proto__ survive to the recipient and are part of the hash", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const document = '{"__proto__":{"admin":true},"constructor":1}';
  await alice.sent(`{"body":${document},"to":"bob_1"}`);
  await alice.sent({ to: "bob_1", body: document, content_type: "json" });
  const { text } = await (async () => {
    relay.clock.advance(2000);
    return await bob.poll();
  })();
  const { messages } = JSON.parse(text);
  assert.equal(messages.length, 2);
  for (const { body, content_hash } of messages) {
    assert.deepEqual(Object.keys(body).sort(), ["__proto__", "constructor"]);
    assert.equal(JSON.stringify(body), document);
    assert.equal(content_hash, contentHash(JSON.parse(document)));
  }
});

Deno.test("the content type of the request is never consulted", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  for (
    const type of ["text/plain", "multipart/form-data", "application/json; charset=latin1", "x"]
  ) {
    const answer = await alice.send({ to: "bob_1", body: "é" }, {
      headers: { "Content-Type": type },
    });
    assertStatus(answer, 201);
  }
});

Deno.test("an agent can send to itself, by any form, and reads it in both boxes", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const ids: number[] = [];
  for (const to of ["alice", alice.wordName, alice.address]) {
    ids.push(await alice.sent({ to, body: to }));
  }
  assert.deepEqual((await alice.outbox()).map(({ delivered_at }) => delivered_at), [
    null,
    null,
    null,
  ]);
  assert.deepEqual((await alice.inbox()).map(({ id }) => id), ids);
  const sent = await alice.outbox();
  assert.deepEqual(sent.map(({ id, to }) => [id, to]), ids.map((id) => [id, alice.address]));
  assert.ok(sent.every(({ delivered_at }) => delivered_at !== null));
});

Deno.test("ids begin at the clock, ascend by a slot's step within one millisecond and never turn back", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const atMs = (ms: number) => (ms - Date.UTC(2025, 0, 1)) * 4096;
  const start = relay.clock.now();
  assert.equal(await alice.sent({ to: "bob_1", body: 1 }), atMs(start));
  assert.equal(await bob.sent({ to: "alice", body: 2 }), atMs(start) + 256);
  relay.clock.advance(1);
  assert.equal(await alice.sent({ to: "alice", body: 3 }), atMs(start + 1));
  relay.clock.set(start - 100_000);
  assert.equal(await bob.sent({ to: "bob_1", body: 4 }), atMs(start + 1) + 256);
  relay.clock.set(start + 3_600_000);
  assert.equal(await alice.sent({ to: "bob_1", body: 5 }), atMs(start + 3_600_000));
});

Deno.test("a message's created_at is the clock's, though its id runs ahead", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const start = relay.clock.now();
  await alice.sent({ to: "alice", body: 1 });
  relay.clock.set(start - 60_000);
  const answer = await alice.send({ to: "alice", body: 2 });
  assert.equal(answer.json.created_at, new Date(start - 60_000).toISOString());
});
