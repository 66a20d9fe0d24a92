/** GET /v1/messages/{id}/signed-request: exactly the bytes that were signed, for sender and recipient. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { verifyMessage } from "../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { askRaw } from "../support/raw_request.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

const RETENTION_MS = 30 * 86_400_000;

const pathOf = (id: number | string) => `/v1/messages/${id}/signed-request`;

/** Every way to write a request as RFC 8785 bytes, and many that are not RFC 8785. */
function writings(to: string): string[] {
  const written: string[] = [];
  for (const type of ["", ',"content_type":null', ',"content_type":"text"']) {
    for (const reply of ["", ',"in_reply_to":null', ',"in_reply_to":7']) {
      written.push(`{"body":{"a":[1,"é\\u0001"]}${type}${reply},"to":"${to}"}`);
    }
  }
  for (const reply of ["", ',"in_reply_to":null', ',"in_reply_to":7']) {
    written.push(
      `{"body":"{\\"a\\":\\"\u2028\\\\n\\"}","content_type":"json"${reply},"to":"${to}"}`,
    );
  }
  return [
    ...written,
    `{"to":"${to}","body":1}`,
    `{"body":1,"to":"${to}"} `,
    `\n{"body":1,"to":"${to}"}`,
    `{"body": 1,"to":"${to}"}`,
    `{"body":1.0,"to":"${to}"}`,
    `{"body":-0,"to":"${to}"}`,
    `{"body":1E0,"to":"${to}"}`,
    `{"body":"\\u0061","to":"${to}"}`,
    `{"body":"\\/","to":"${to}"}`,
    `{"body":{"b":1,"a":2},"to":"${to}"}`,
    `{"body":1,"to":"\\u0062${to.slice(1)}"}`,
    `{"body":1,"in_reply_to":2.0,"to":"${to}"}`,
    `{"body":1,"extra":{"deep":[null]},"to":"${to}"}`,
    `{"__proto__":{},"body":1,"to":"${to}"}`,
    `{"body":" {\\"b\\":1, \\"a\\":2}","content_type":"json","to":"${to}"}`,
    `{"body":1,"to":"@${to}"}`,
    `{"body":1,"to":"${to.toUpperCase()}"}`,
  ];
}

Deno.test("signed-request gives back every way of writing a request, byte for byte, to both sides", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const requests = writings("bob_1");
  const ids: number[] = [];
  for (const request of requests) ids.push(await alice.sent(request));
  const received = await bob.inbox("limit=200");
  assert.equal(received.length, requests.length);
  for (const [index, message] of received.entries()) {
    const request = requests[index]!;
    assert.equal(message.id, ids[index]);
    const hash = createHash("sha256").update(request).digest("hex");
    assert.equal(message.canonical_string.split(":")[4], hash, request);
    for (const reader of [alice, bob]) {
      const answer = await reader.call("GET", pathOf(message.id));
      assertStatus(answer, 200);
      assert.equal(answer.text, request);
      assert.equal(answer.headers.get("content-type"), "application/json");
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.equal((await reader.bearer("GET", pathOf(message.id))).text, request);
    }
    const report = await verifyMessage(message, { request: new TextEncoder().encode(request) });
    assert.deepEqual([report.signature, report.body], ["valid", "bound"], request);
  }
});

Deno.test("RFC 8785 requests are kept as their parts alone, others as raw bytes", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  const rawRows = async () => {
    let count = 0;
    for await (const _ of relay.deps.kv.list({ prefix: ["raw"] })) count++;
    return count;
  };
  for (const request of writings("bob_1").slice(0, 12)) await alice.sent(request);
  assert.equal(await rawRows(), 0);
  await alice.sent('{"to":"bob_1","body":1}');
  assert.equal(await rawRows(), 1);
});

Deno.test("signed-request is not_found for others and for ids of no message", async () => {
  await using relay = await startTestRelay();
  const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
  const id = await alice.sent({ to: "bob_1", body: "private" });
  const other = await carol.sent({ to: "carol", body: "hers" });
  assertRefused(await carol.call("GET", pathOf(id)), "not_found");
  assertRefused(await carol.bearer("GET", pathOf(id)), "not_found");
  for (const reader of [alice, bob]) {
    assertRefused(await reader.call("GET", pathOf(other)), "not_found");
  }
  for (
    const malformed of [
      "0",
      "-1",
      `0${id}`,
      `${id}.0`,
      `+${id}`,
      "1e3",
      "abc",
      "9007199254740992",
      "99999999999999999",
      String(id + 1),
      `${id}%20`,
      `%3${String(id)[0]}${String(id).slice(1)}`,
      "%00",
    ]
  ) {
    const target = pathOf(malformed);
    const headers = bob.sign("GET", target);
    assertRefused(await askRaw(relay.port, { method: "GET", target, headers }), "not_found");
  }
});

Deno.test("signed-request of an expired message is not_found to the millisecond, raw or rebuilt", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const ids = [
    await alice.sent({ to: "bob_1", body: 1 }),
    await alice.sent('{"to":"bob_1","body":1}'),
  ];
  relay.clock.advance(RETENTION_MS - 1);
  for (const id of ids) {
    for (const reader of [alice, bob]) {
      assertStatus(await reader.call("GET", pathOf(id)), 200);
    }
  }
  relay.clock.advance(1);
  for (const id of ids) {
    for (const reader of [alice, bob]) {
      assertRefused(await reader.call("GET", pathOf(id)), "not_found");
    }
  }
});

Deno.test("signed-request stamps nothing and is no poll", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const id = await alice.sent({ to: "bob_1", body: 1 });
  assertStatus(await bob.call("GET", pathOf(id)), 200);
  assert.equal((await alice.outbox())[0].delivered_at, null);
  assertStatus(await bob.poll(), 200);
});
