/** What a relay does on a clock that leapt, with RELAY_CLOCK_CHECK and without it. */
import assert from "node:assert/strict";
import {
  INDEX_ROW,
  indexKeyOf,
  type OutgoingRow,
} from "../../server/base/outgoing/outgoing_row.ts";
import { ask, assertRefused, assertStatus } from "../support/answer.ts";
import { createTestClock, TEST_START_MS } from "../support/clock.ts";
import { openKvFile } from "../support/read_through.ts";
import { makeStoreFolder, startTestRelay } from "../support/relay.ts";
import { accepted } from "../support/mail_caller.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { deliver, newSendingOrg, send, takenFor } from "../support/sending_org.ts";
import { registerAgents } from "../support/test_agent.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

Deno.test("a relay that ends while its clock is unsure keeps what it knows, and fails at nothing", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  try {
    const relay = await startTestRelay({ kvPath });
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    await alice.sent({ to: "bob_1", body: "x" });
    relay.clock.leap(9 * HOUR_MS);
    assertStatus(await bob.poll(), 200);
    assertRefused(await alice.send({ to: "bob_1", body: "y" }), "unavailable");
    await relay.stop();
    assert.deepEqual(relay.logged.map(({ event }) => event), ["clock_leapt_ahead"]);

    await using next = await startTestRelay({ kvPath });
    const seen = await ask(`${next.url}/v1/agents/bob_1`);
    assert.equal(seen.json.last_seen_at, new Date(TEST_START_MS).toISOString());
    const [row] = await alice.at(next).outbox();
    assert.equal(row.delivered_at, new Date(TEST_START_MS).toISOString());
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("what waits for its time is not sent by a clock that is unsure", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const sendAt = new Date(relay.clock.now() + HOUR_MS).toISOString();
  accepted(await send(owner, await owner.inbox(), { send_at: sendAt }), 202);
  const arrived = async () => {
    await deliver(relay);
    return (await takenFor(relay, "ann@example.org")).length;
  };
  relay.clock.leap(9 * HOUR_MS);
  assert.equal(await arrived(), 0);
  relay.clock.advance(MINUTE_MS - 1);
  assert.equal(await arrived(), 0);
  relay.clock.advance(1);
  assert.equal(await arrived(), 1);
});

Deno.test("a clock that is set right while a relay starts, whenever that is, does not end the start", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  try {
    const first = await startMailRelay({ kvPath });
    const owner = await newSendingOrg(first);
    const sendAt = new Date(first.clock.now() + HOUR_MS).toISOString();
    accepted(await send(owner, await owner.inbox(), { send_at: sendAt }), 202);
    await first.stop();
    let reading = 1;
    for (let isRead = true; isRead; reading++) {
      await leaveLeased(kvPath);
      const clock = createTestClock(TEST_START_MS + HOUR_MS);
      let readings = 0;
      const now = () => {
        if (++readings === reading) clock.leap(9 * HOUR_MS);
        return clock.now();
      };
      await using _relay = await startMailRelay({ kvPath, deps: { now, elapsed: clock.elapsed } });
      isRead = readings > reading;
    }
    assert.ok(reading > 10, "the clock is read at many steps of a start");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

/** Leaves what is queued as a process does that is killed at its delivery. */
async function leaveLeased(kvPath: string): Promise<void> {
  using kv = await openKvFile(kvPath);
  const queued = await Array.fromAsync(kv.list<OutgoingRow>({ prefix: ["outgoing"] }));
  assert.equal(queued.length, 1);
  for (const { key, value } of queued) {
    const id = String(key[1]);
    const leased = { ...value, lease: "a former process", dueMs: TEST_START_MS + HOUR_MS };
    await kv.atomic().set(key, leased).delete(indexKeyOf(id, value))
      .set(indexKeyOf(id, leased), INDEX_ROW).commit();
  }
}

Deno.test("a start on a clock that is behind the store is told of, and refuses nothing", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  try {
    const until = new Date(TEST_START_MS).toISOString();
    const first = await startTestRelay({ kvPath });
    await registerAgents(first, "alice", "bob_1");
    await first.stop();
    const clockStartMs = TEST_START_MS - 9 * HOUR_MS;
    const starts = [
      { clockCheck: true, isTold: true },
      { clockCheck: true, isTold: true },
      { clockCheck: false, isTold: false },
      { clockCheck: true, isTold: false },
    ];
    for (const [i, { clockCheck, isTold }] of starts.entries()) {
      await using relay = await startTestRelay({ kvPath, clockStartMs, config: { clockCheck } });
      const { json } = await ask(`${relay.url}/health`);
      assert.deepEqual(json, { ok: true, ...isTold ? { clock: { state: "behind", until } } : {} });
      const notes = relay.relay.startupNotes().join("\n");
      assert.equal(/what that later time decided waits/.test(notes), isTold);
      assert.equal(/RELAY_CLOCK_CHECK is off: .* is taken for right/.test(notes), !clockCheck);
      const [sender] = await registerAgents(relay, `sender_${i}`);
      assertStatus(await sender.send({ to: "bob_1", body: "x" }), 201);
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("without its check a leap is logged, and refuses nothing", async () => {
  await using relay = await startTestRelay({ config: { clockCheck: false } });
  const [alice] = await registerAgents(relay, "alice", "bob_1");
  for (const ms of [9 * HOUR_MS, -9 * HOUR_MS, 2 * DAY_MS]) {
    relay.clock.leap(ms);
    assertStatus(await alice.send({ to: "bob_1", body: "x" }), 201);
    assert.deepEqual((await ask(`${relay.url}/health`)).json, { ok: true });
  }
  assert.deepEqual(relay.logged.map(({ event }) => event), [
    "clock_leapt_ahead",
    "clock_came_back",
    "clock_leapt_ahead",
  ]);
});
