/** POST /v1/messages repeated: one signature is one message. */
import assert from "node:assert/strict";
import { type Answer, assertRefused, assertStatus } from "../support/answer.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../support/relay.ts";
import { listRows } from "../support/store_rows.ts";
import { registerAgent, registerAgents, TestAgent, toBytes } from "../support/test_agent.ts";

const STORES = [
  ["an exclusive store", {}],
  ["a shared store", { config: { sharedStore: true } }],
] as const satisfies [string, TestRelayOptions][];

/** Past the time when only the store knows what a former process accepted. */
const SETTLED_MS = 700_000;

function assertReplay(answer: Answer, first: Answer): void {
  assertStatus(answer, 201);
  assert.equal(answer.text, first.text);
  assert.equal(answer.headers.get("idempotent-replayed"), "true");
}

async function assertOneMessage(relay: TestRelay, agent: TestAgent, id: number): Promise<void> {
  assert.deepEqual((await agent.at(relay).outbox()).map((message) => message.id), [id]);
}

for (const [store, options] of STORES) {
  for (const [time, afterMs] of [["after the start", 0], ["later", SETTLED_MS]] as const) {
    Deno.test(`a repeated send answers the stored 201 and stores nothing, ${time} on ${store}`, async () => {
      await using relay = await startTestRelay(options);
      const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
      relay.clock.advance(afterMs);
      const timestamp = relay.clock.seconds();
      const request = { to: "bob_1", body: "once" };
      const first = await alice.send(request, { timestamp });
      assertStatus(first, 201);
      assert.equal(first.headers.get("idempotent-replayed"), null);
      const before = await listRows(relay.deps.kv);
      for (const aheadMs of [0, 1, 150_000, 149_999]) {
        relay.clock.advance(aheadMs);
        assertReplay(await alice.send(request, { timestamp }), first);
      }
      assert.deepEqual(await listRows(relay.deps.kv), before);
      assert.equal((await bob.inbox()).length, 1);
      await assertOneMessage(relay, alice, first.json.id);
    });

    Deno.test(`equal sends at once are one message, ${time} on ${store}`, async () => {
      await using relay = await startTestRelay(options);
      const [alice] = await registerAgents(relay, "alice", "bob_1");
      relay.clock.advance(afterMs);
      const timestamp = relay.clock.seconds();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => alice.send({ to: "bob_1", body: 1 }, { timestamp })),
      );
      const fresh = answers.filter(({ headers }) => !headers.has("idempotent-replayed"));
      assert.equal(fresh.length, 1);
      for (const answer of answers) if (answer !== fresh[0]) assertReplay(answer, fresh[0]!);
      await assertOneMessage(relay, alice, fresh[0]!.json.id);
    });

    Deno.test(`the last send of a minute can be repeated at once with itself, ${time} on ${store}`, async () => {
      await using relay = await startTestRelay({
        ...options,
        limits: { sendsPerAgentPerMinute: 1 },
      });
      const [alice] = await registerAgents(relay, "alice", "bob_1");
      relay.clock.advance(afterMs);
      const timestamp = relay.clock.seconds();
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => alice.send({ to: "bob_1", body: 1 }, { timestamp })),
      );
      for (const answer of answers) assertStatus(answer, 201);
      assertRefused(await alice.send({ to: "bob_1", body: 2 }), "rate_limited");
    });
  }

  Deno.test(`a refused send uses its signature up not at all, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const alice = await registerAgent(relay, "alice");
    const timestamp = relay.clock.seconds();
    const send = () => alice.send({ to: "bob_1", body: "early" }, { timestamp });
    assertRefused(await send(), "not_found");
    const bob = await registerAgent(relay, "bob_1");
    const accepted = await send();
    assertStatus(accepted, 201);
    assert.equal(accepted.headers.get("idempotent-replayed"), null);
    assert.equal((await bob.inbox()).length, 1);
  });

  Deno.test(`a signature is remembered until its timestamp can no longer pass, on ${store}`, async () => {
    await using relay = await startTestRelay(options);
    const [alice] = await registerAgents(relay, "alice", "bob_1");
    relay.clock.advance(SETTLED_MS);
    const timestamp = relay.clock.seconds() + 300;
    const send = () => alice.send({ to: "bob_1", body: "ahead" }, { timestamp });
    const first = await send();
    assertStatus(first, 201);
    relay.clock.advance(600_000);
    assertReplay(await send(), first);
    relay.clock.advance(999);
    assertReplay(await send(), first);
    relay.clock.advance(1);
    assertRefused(await send(), "timestamp_out_of_range");
    relay.clock.advance(-1);
    assertReplay(await send(), first);
  });

  Deno.test(`a repetition is recognised by the relay's next process, on ${store}`, async () => {
    using kv = await openMemoryKv();
    const request = { to: "bob_1", body: "survives" };
    let alice: TestAgent;
    let first: Answer;
    let timestamp: number;
    {
      await using relay = await startTestRelay({ ...options, deps: { kv } });
      [alice] = await registerAgents(relay, "alice", "bob_1");
      timestamp = relay.clock.seconds() + 200;
      first = await alice.send(request, { timestamp });
    }
    {
      await using relay = await startTestRelay({ ...options, deps: { kv } });
      const again = alice.at(relay);
      const answers = await Promise.all([1, 2, 3].map(() => again.send(request, { timestamp })));
      for (const answer of answers) assertReplay(answer, first);
      relay.clock.advance(500_000);
      assertReplay(await again.send(request, { timestamp }), first);
      await assertOneMessage(relay, alice, first.json.id);
    }
  });

  Deno.test(`a repetition is answered while the disk is full and at the limit, on ${store}`, async () => {
    let freeBytes = 600 * 1024 * 1024;
    const measureFreeBytes = () => Promise.resolve(freeBytes);
    using kv = await openMemoryKv();
    const all = {
      ...options,
      deps: { kv },
      relay: { measureFreeBytes },
      limits: { sendsPerAgentPerMinute: 1 },
    };
    const request = { to: "bob_1", body: "kept" };
    let alice: TestAgent;
    let first: Answer;
    let timestamp: number;
    {
      await using relay = await startTestRelay(all);
      [alice] = await registerAgents(relay, "alice", "bob_1");
      timestamp = relay.clock.seconds();
      first = await alice.send(request, { timestamp });
      assertReplay(await alice.send(request, { timestamp }), first);
      assertRefused(await alice.send({ to: "bob_1", body: "new" }), "rate_limited");
    }
    freeBytes = 0;
    {
      await using relay = await startTestRelay(all);
      assertReplay(await alice.at(relay).send(request, { timestamp }), first);
      assertRefused(await alice.at(relay).send({ to: "bob_1", body: "new" }), "unavailable");
    }
  });
}

Deno.test("equal sends through two relays of one store at once are one message", async () => {
  using kv = await openMemoryKv();
  {
    const options = { config: { sharedStore: true }, deps: { kv } };
    await using one = await startTestRelay(options);
    await using two = await startTestRelay(options);
    const [alice, bob] = await registerAgents(one, "alice", "bob_1");
    const timestamp = one.clock.seconds();
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        Array.from(
          { length: 10 },
          (_, i) =>
            alice.at(i % 2 === 0 ? one : two).send({ to: "bob_1", body: round }, { timestamp }),
        ),
      );
      for (const answer of answers) assertStatus(answer, 201);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      const fresh = answers.filter(({ headers }) => !headers.has("idempotent-replayed"));
      assert.equal(fresh.length, 1);
    }
    assert.deepEqual((await bob.inbox()).map(({ body }) => body), [0, 1, 2, 3, 4]);
  }
});

Deno.test("what differs in bytes, timestamp or sender is another message", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const timestamp = relay.clock.seconds();
  const body = { to: "bob_1", body: "x" };
  const answers = [
    await alice.send(body, { timestamp }),
    await alice.send(body, { timestamp: timestamp + 1 }),
    await alice.send('{"to":"bob_1","body":"x"}', { timestamp }),
    await bob.send(body, { timestamp }),
  ];
  for (const answer of answers) {
    assertStatus(answer, 201);
    assert.equal(answer.headers.get("idempotent-replayed"), null);
  }
  assert.equal(new Set(answers.map(({ json }) => json.id)).size, 4);
  assert.equal((await bob.inbox()).length, 4);
});

Deno.test("an accepted signature over other bytes is no repetition", async () => {
  await using relay = await startTestRelay();
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  const timestamp = relay.clock.seconds();
  const body = toBytes({ to: "bob_1", body: "x" });
  assertStatus(await alice.send(body, { timestamp }), 201);
  const headers = alice.sign("POST", "/v1/messages", body, timestamp);
  const altered = await alice.send({ to: "bob_1", body: "y" }, { timestamp, headers });
  assertRefused(altered, "invalid_signature");
});

Deno.test("Idempotency-Key is ignored on signed sends, malformed ones too", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  for (const key of ["k", "k", "", "x".repeat(300)]) {
    const headers = { "Idempotency-Key": key };
    const answer = await alice.send({ to: "bob_1", body: key.length }, { headers });
    assertStatus(answer, 201);
    assert.equal(answer.headers.get("idempotent-replayed"), null);
  }
  assert.equal((await bob.inbox()).length, 4);
});
