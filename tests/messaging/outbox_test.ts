/** GET /v1/outbox: what an agent sent, and whether it was delivered. */
import assert from "node:assert/strict";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { registerAgents } from "../support/test_agent.ts";

Deno.test("the outbox shows each recipient in full, ascending by id, and nobody else's sends", async () => {
  await using relay = await startTestRelay();
  const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
  const ids = [
    await alice.sent({ to: carol.address, body: { a: 1 } }),
    await alice.sent({ to: bob.wordName, body: "[1]", content_type: "json", in_reply_to: 5 }),
    await alice.sent({ to: "alice", body: null }),
  ];
  await bob.sent({ to: "alice", body: "not hers" });
  const answer = await alice.call("GET", "/v1/outbox");
  assertStatus(answer, 200);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.json.last_id, ids[2]);
  const { messages } = answer.json;
  assert.deepEqual(messages.map(({ id }: { id: number }) => id), ids);
  const recipients = [carol, bob, alice];
  for (const [index, message] of messages.entries()) {
    const { to, to_handle, to_word_name, body: _, ...rest } = message;
    const { address, handle, wordName } = recipients[index]!;
    assert.deepEqual([to, to_handle, to_word_name], [address, handle, wordName]);
    assert.deepEqual(Object.keys(rest).sort(), [
      "content_hash",
      "created_at",
      "delivered_at",
      "id",
    ]);
    assert.equal(rest.delivered_at, null);
  }
  assert.deepEqual(messages.map(({ body }: { body: unknown }) => body), [{ a: 1 }, [1], null]);
});

Deno.test("the outbox pages by since_id as the inbox does", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  const ids: number[] = [];
  for (let i = 0; i < 5; i++) ids.push(await alice.sent({ to: "bob_1", body: i }));
  const page = async (query: string) => {
    const { json } = await alice.call("GET", "/v1/outbox", { query });
    return [json.messages.map(({ id }: { id: number }) => id), json.last_id];
  };
  assert.deepEqual(await page("limit=2"), [ids.slice(0, 2), ids[1]]);
  assert.deepEqual(await page(`limit=2&since_id=${ids[1]}`), [ids.slice(2, 4), ids[3]]);
  assert.deepEqual(await page(`since_id=${ids[3]}`), [[ids[4]], ids[4]]);
  assert.deepEqual(await page(`since_id=${ids[4]}`), [[], ids[4]]);
  assert.deepEqual(await page("since_id=-1"), [ids, ids[4]]);
  assert.deepEqual(await page("since_id=9007199254740991"), [[], 9007199254740991]);
});

Deno.test("the outbox is no poll, has no floor and changes nothing", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  await alice.sent({ to: "alice", body: 1 });
  const before = await listRows(relay.deps.kv, { marks: true });
  for (let i = 0; i < 5; i++) {
    assertStatus(await alice.call("GET", "/v1/outbox"), 200);
    assertStatus(await alice.bearer("GET", "/v1/outbox"), 200);
    assertStatus(await alice.call("HEAD", "/v1/outbox"), 200);
  }
  assert.deepEqual(await listRows(relay.deps.kv, { marks: true }), before);
  assertStatus(await alice.poll(), 200);
});

Deno.test("the outbox needs a credential", async () => {
  await using relay = await startTestRelay();
  assertRefused(await ask(`${relay.url}/v1/outbox`), "unknown_token", /credentials/);
});

Deno.test("delivered_at tells the recipient's poll, whichever credential made it", async () => {
  await using relay = await startTestRelay();
  const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
  await alice.sent({ to: "bob_1", body: 1 });
  await alice.sent({ to: "carol", body: 2 });
  relay.clock.advance(5000);
  assertStatus(await bob.bearer("GET", "/v1/inbox"), 200);
  const bobAt = new Date(relay.clock.now()).toISOString();
  relay.clock.advance(5000);
  assertStatus(await carol.poll(), 200);
  const carolAt = new Date(relay.clock.now()).toISOString();
  assert.deepEqual((await alice.outbox()).map((message) => message.delivered_at), [bobAt, carolAt]);
});
