/** Polls that overlap, and a store that fails while a page is being stamped. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { createFakeKv, type FakeCommit } from "../support/fake_kv.ts";
import { delay } from "../support/pace.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

/** Whether a commit stamps a delivery: it alone writes the recipient's poll record. */
const isStamp = ({ writes }: FakeCommit) =>
  writes.some(({ key }) => key[0] === "poll") && writes.some(({ key }) => key[0] === "outbox");

Deno.test("a poll that read what another one is stamping does not stamp it again", async () => {
  using store = await openMemoryKv();
  const stamping = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  let stamps = 0;
  const kv = createFakeKv({
    kv: store,
    maxChecks: 100,
    async intercept(commit, run) {
      if (isStamp(commit) && ++stamps === 1) {
        stamping.resolve();
        await release.promise;
      }
      return await run();
    },
  });
  await using relay = await startTestRelay({ deps: { kv }, limits: { inboxPollIntervalMs: 0 } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const id = await alice.sent({ to: "bob_1", body: 1 });
  const first = bob.poll();
  await stamping.promise;
  const stampedAt = new Date(relay.clock.now()).toISOString();
  relay.clock.advance(5_000);
  const second = bob.poll();
  await delay(50); // by now it has read, and waits for the record that the first one holds
  release.resolve();
  for (const answer of await Promise.all([first, second])) {
    assertStatus(answer, 200);
    assert.equal(answer.json.last_id, id);
  }
  assert.equal((await alice.outbox())[0].delivered_at, stampedAt);
  assert.equal(stamps, 1);
});

Deno.test("a poll whose stamps cannot be stored is refused, stamps nothing and does not count", async () => {
  using store = await openMemoryKv();
  let broken = false;
  const kv = createFakeKv({
    kv: store,
    maxChecks: 100,
    async intercept(commit, run) {
      if (broken && isStamp(commit)) throw new TypeError("the store is away");
      return await run();
    },
  });
  await using relay = await startTestRelay({ deps: { kv } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await alice.sent({ to: "bob_1", body: 1 });
  broken = true;
  const refused = await bob.poll();
  assertRefused(refused, "unavailable");
  assert.notEqual(refused.headers.get("retry-after"), null);
  assert.equal((await alice.outbox())[0].delivered_at, null);
  broken = false;
  relay.clock.advance(1);
  const answer = await bob.poll();
  assertStatus(answer, 200);
  assert.equal(answer.json.messages.length, 1);
  const [{ delivered_at }] = await alice.outbox();
  assert.equal(delivered_at, new Date(relay.clock.now()).toISOString());
});

Deno.test("a send that the store does not take is refused, and its repetition is stored once", async () => {
  using store = await openMemoryKv();
  let broken = false;
  const kv = createFakeKv({
    kv: store,
    maxChecks: 100,
    async intercept(commit, run) {
      const isSend = commit.writes.some(({ key }) => key[0] === "inbox");
      if (broken && isSend) throw new TypeError("the store is away");
      return await run();
    },
  });
  await using relay = await startTestRelay({ deps: { kv } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const timestamp = relay.clock.seconds();
  const request = { to: "bob_1", body: "again" };
  broken = true;
  assertRefused(await alice.send(request, { timestamp }), "unavailable", /same signature/);
  broken = false;
  const answer = await alice.send(request, { timestamp });
  assertStatus(answer, 201);
  assert.equal(answer.headers.get("idempotent-replayed"), null);
  assert.deepEqual((await bob.inbox()).map(({ id }) => id), [answer.json.id]);
});
