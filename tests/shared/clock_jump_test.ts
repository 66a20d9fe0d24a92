import assert from "node:assert/strict";
import { KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { type Answer, assertErrorShape, assertStatus } from "../support/answer.ts";
import { createFakeKv } from "../support/fake_kv.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelayOptions } from "../support/relay.ts";
import { registerAgents, type TestAgent, toBytes } from "../support/test_agent.ts";

const HOUR_MS = 3_600_000;
const JUMPS_MS = [HOUR_MS, -HOUR_MS, -HOUR_MS, 2 * HOUR_MS, -HOUR_MS, 5_000, -4_000, HOUR_MS];

const stores: Record<string, (kv: Deno.Kv) => TestRelayOptions> = {
  "an exclusive store": (kv) => ({ deps: { kv } }),
  "a shared store": (kv) => ({ deps: { kv }, config: { sharedStore: true } }),
  "a KV server": (kv) => ({
    deps: { kv: createFakeKv({ kv, faults: { deniedSuccess: 0.1, locked: 0.1 } }) },
    config: { sharedStore: true, hosted: true },
    relay: { capacity: KV_CONNECT_CAPACITY },
  }),
};

/** A limit may tell a caller to wait, never longer than its own length. */
function assertWait(answer: Answer, atMostMs: number): void {
  assert.equal(assertErrorShape(answer), "rate_limited");
  assert.ok(answer.json.retry_after_ms <= atMostMs, answer.text);
}

for (const [store, optionsFor] of Object.entries(stores)) {
  Deno.test(`a clock that jumps by an hour back and forth loses nothing on ${store}`, async () => {
    const kv = await openMemoryKv();
    await using relay = await startTestRelay(optionsFor(kv));
    const [alice, bob] = await registerAgents(relay, "alice", "bob");
    const sent: number[] = [];
    const read: number[] = [];
    let lastId = 0;

    async function sendSome(): Promise<void> {
      for (let i = 0; i < 5; i++) {
        const answer = await alice.send({ to: "bob", body: { sent: sent.length } });
        if (answer.status === 201) sent.push(answer.json.id);
        else assertWait(answer, 60_000);
      }
    }
    async function readSome(reader: TestAgent): Promise<void> {
      const answer = await reader.poll(`since_id=${lastId}&limit=4`);
      if (answer.status !== 200) return assertWait(answer, 2_000);
      read.push(...answer.json.messages.map(({ id }: { id: number }) => id));
      lastId = answer.json.last_id;
    }

    for (const jumpMs of JUMPS_MS) {
      const body = toBytes({ to: "bob", body: { before: jumpMs, sent: sent.length } });
      const timestamp = relay.clock.seconds();
      const call = () => alice.call("POST", "/v1/messages", { body, timestamp });
      const accepted = await call();
      assertStatus(accepted, 201);
      sent.push(accepted.json.id);
      relay.clock.advance(jumpMs);
      // Repeated at the other time it is refused by its timestamp or the same message: never a new one.
      const repeated = await call();
      if (repeated.status === 201) assert.equal(repeated.json.id, accepted.json.id);
      else assert.equal(assertErrorShape(repeated), "timestamp_out_of_range");
      await sendSome();
      await readSome(bob);
      relay.clock.advance(2_000);
      await readSome(bob);
      relay.clock.advance(-2_000 - jumpMs);
      const back = await call();
      assertStatus(back, 201);
      assert.equal(back.json.id, accepted.json.id);
      relay.clock.advance(jumpMs);
    }
    for (let polls = 0; read.length < sent.length && polls < 100; polls++) {
      relay.clock.advance(2_000);
      await readSome(bob);
    }
    assert.deepEqual(read, sent);
    assert.deepEqual(sent, sent.toSorted((a, b) => a - b));
    const outbox = await alice.outbox("limit=200");
    assert.deepEqual(outbox.map(({ id }) => id), sent);
    for (const { delivered_at } of outbox) assert.notEqual(delivered_at, null);
    await relay.stop();
    kv.close();
  });
}

Deno.test("relays started one after the other by clocks that disagree lose nothing and give no id twice", async () => {
  const kv = await openMemoryKv();
  const startMs = Date.UTC(2026, 5, 1, 12);
  const ids: number[] = [];
  let alice: TestAgent | undefined;
  let replay: { body: Uint8Array<ArrayBuffer>; timestamp: number; id: number } | undefined;
  for (const offsetMs of [0, HOUR_MS, -HOUR_MS, 0, 120_000]) {
    await using relay = await startTestRelay({ deps: { kv }, clockStartMs: startMs + offsetMs });
    alice = alice?.at(relay) ?? (await registerAgents(relay, "alice"))[0];
    if (replay !== undefined) {
      // Accepted by a former process: known to this one wherever its timestamp passes.
      const { body, timestamp, id } = replay;
      const answer = await alice!.call("POST", "/v1/messages", { body, timestamp });
      if (answer.status === 201) assert.equal(answer.json.id, id);
      else assert.equal(assertErrorShape(answer), "timestamp_out_of_range");
    }
    const body = toBytes({ to: "alice", body: { offsetMs, count: ids.length } });
    const timestamp = relay.clock.seconds();
    const answer = await alice!.call("POST", "/v1/messages", { body, timestamp });
    assertStatus(answer, 201);
    replay ??= { body, timestamp, id: answer.json.id };
    ids.push(answer.json.id);
  }
  assert.deepEqual(ids, ids.toSorted((a, b) => a - b));
  assert.equal(new Set(ids).size, ids.length);
  await using relay = await startTestRelay({ deps: { kv }, clockStartMs: startMs + 300_000 });
  const inbox = await alice!.at(relay).inbox();
  assert.deepEqual(inbox.map(({ id }) => id), ids);
  await relay.stop();
  kv.close();
});
