/** POST /v1/messages: JSON that languages would read differently is refused, in the request and inside body. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { registerAgents } from "../support/test_agent.ts";

/** Values that strict JSON refuses, as text. */
const REFUSED = [
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"__proto__":1,"__proto__":2}',
  '[{"x":{"b":1,"c":2,"b":3}}]',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '{"\\udfff":1}',
  "9007199254740992",
  "-9007199254740992",
  "9007199254740993.0",
  "1e16",
  "123456789012345678901",
  "999999999999999900000",
  "9.007199254740993e15",
  "1e309",
  "-1e309",
  "1".repeat(400),
  "01",
  "+1",
  ".5",
  "1.",
  "0x1",
  "Infinity",
  "'a'",
  '"\t"',
  '"\\x41"',
  '"\\u12"',
  "[1,]",
  "[,1]",
  '{"a":1,}',
  "{a:1}",
  "tru",
  "[1 2]",
  "[1]]",
  "/**/1",
  "\u00a01",
  "\u000b1",
];

/** Values that it takes, and what they become. */
const TAKEN: [string, unknown][] = [
  ["9007199254740991", 9007199254740991],
  ["-9007199254740991", -9007199254740991],
  ["9007199254740991.0", 9007199254740991],
  ["1e21", 1e21],
  ["999999999999999999999", 1e21], // the double decides
  ["1e4", 10000],
  ["1e-400", 0],
  ["-0.0", 0],
  ["0.1e1", 1],
  ["1.7976931348623157e308", Number.MAX_VALUE],
  ['"\\ud83d\\ude00"', "\u{1F600}"],
  ['"\\u0000\\/"', "\u0000/"],
  ['{"a":1,"A":2," a":3}', { a: 1, A: 2, " a": 3 }],
  [" \t\r\n1 \t\r\n", 1],
];

Deno.test("a text body of JSON that languages read differently is invalid_json, with its place", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const before = await listRows(relay.deps.kv);
  for (const value of REFUSED) {
    const answer = await alice.send(`{"to":"alice","body":${value}}`);
    assertRefused(answer, "invalid_json", /line \d+, column \d+, byte \d+/);
  }
  assert.deepEqual(await listRows(relay.deps.kv), before);
});

Deno.test("the same inside the string of a json body is invalid_json and says inside body", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const before = await listRows(relay.deps.kv);
  for (const body of REFUSED) {
    const answer = await alice.send(
      JSON.stringify({ to: "alice", body, content_type: "json" }),
    );
    assertRefused(answer, "invalid_json", /^inside body/);
  }
  assert.deepEqual(await listRows(relay.deps.kv), before);
});

Deno.test("duplicates and unsafe numbers are refused anywhere in the request", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  for (
    const request of [
      '{"to":"alice","body":1,"body":2}',
      '{"to":"alice","\\u0062ody":1,"body":2}',
      '{"to":"nobody","to":"alice","body":1}',
      '{"to":"alice","body":1,"in_reply_to":9007199254740992}',
      '{"to":"alice","body":1,"in_reply_to":9007199254740993.0}',
      '{"to":"alice","body":1,"unknown":1e400}',
      '{"to":"alice","body":1,"unknown":{"a":1,"a":1}}',
      '{"to":"alice","body":1,"\\ud800":1}',
      '\ufeff{"to":"alice","body":1}',
      '{"to":"alice","body":1}\u0000',
    ]
  ) assertRefused(await alice.send(request), "invalid_json");
});

Deno.test("bytes that are no UTF-8 are invalid_json", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const encoder = new TextEncoder();
  for (
    const bytes of [
      [0xff],
      [0xc3],
      [0xc0, 0x80],
      [0xe0, 0x80, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
      [0x80],
    ]
  ) {
    const request = new Uint8Array([
      ...encoder.encode('{"to":"alice","body":"'),
      ...bytes,
      ...encoder.encode('"}'),
    ]);
    assertRefused(await alice.send(request), "invalid_json", /UTF-8/);
  }
  const utf16 = new Uint8Array([...'{"to":"alice","body":1}'].flatMap((c) => [c.charCodeAt(0), 0]));
  assertRefused(await alice.send(utf16), "invalid_json");
});

Deno.test("what strict JSON takes is stored as the double or text that it is, in both forms", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  for (const [body, value] of TAKEN) {
    assertStatus(await alice.send(`{"to":"alice","body":${body}}`), 201);
    assertStatus(await alice.send({ to: "alice", body, content_type: "json" }), 201);
    const [text, json] = await alice.inbox(`since_id=${(await alice.outbox()).at(-3)?.id ?? 0}`);
    assert.deepEqual(text.body, value);
    assert.deepEqual(json.body, value);
    assert.equal(text.content_hash, json.content_hash);
    relay.clock.advance(60_000);
  }
});

Deno.test("body nests 64 deep and not 65, the request object not counted, in both forms", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice");
  const arrays = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  for (const nested of [arrays, objects]) {
    assertStatus(await alice.send(`{"to":"alice","body":${nested(64)}}`), 201);
    assertRefused(await alice.send(`{"to":"alice","body":${nested(65)}}`), "invalid_json", /64/);
    const json = (depth: number) => ({ to: "alice", body: nested(depth), content_type: "json" });
    assertStatus(await alice.send(json(64)), 201);
    assertRefused(await alice.send(json(65)), "invalid_json", /^inside body.*64/);
  }
  assertStatus(await alice.send(`{"to":"alice","body":1,"x":${arrays(64)}}`), 201);
  assertRefused(await alice.send(`{"to":"alice","body":1,"x":${arrays(65)}}`), "invalid_json");
  assertRefused(await alice.send(`{"to":"alice","body":${arrays(100_000)}}`), "invalid_json");
  assertRefused(await alice.send("[".repeat(200_000)), "invalid_json");
});
