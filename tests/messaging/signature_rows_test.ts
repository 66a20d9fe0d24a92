/** Sends of one commit share the row of their signatures on an exclusive store (docs/adr/0042). */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { countReads } from "../support/count_reads.ts";
import { type CommitOutcome, createFakeKv, type FakeCommit } from "../support/fake_kv.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../support/relay.ts";
import { registerAgents, type TestAgent, toBytes } from "../support/test_agent.ts";

const SHARED = { config: { sharedStore: true } };
const LIMITS = { registrationsPerIpPerHour: 1000, inboxPollIntervalMs: 0 };

const usesIn = ({ writes }: FakeCommit) => writes.filter(({ key: [name] }) => name === "sig");

async function useKeys(kv: Deno.Kv): Promise<Deno.KvKey[]> {
  return (await Array.fromAsync(kv.list({ prefix: ["sig"] }))).map(({ key }) => key);
}

/** Sends a signed request, and tells how to send the same again at any relay on the store. */
async function sendOnce(agent: TestAgent, to: string, body: string, timestamp: number) {
  const call = (at: TestAgent) =>
    at.call("POST", "/v1/messages", { body: toBytes({ to, body }), timestamp });
  const first = await call(agent);
  assertStatus(first, 201);
  return async (relay: TestRelay) => {
    const again = await call(agent.at(relay));
    assertStatus(again, 201);
    assert.equal(again.headers.get("idempotent-replayed"), "true", body);
    assert.equal(again.text, first.text);
  };
}

Deno.test("sends that travel together write one row of signatures, and a send reads none", async () => {
  using kv = await openMemoryKv();
  const counted = countReads(kv);
  const fake = createFakeKv({ kv: counted.kv, maxChecks: 100, delayMs: 2 });
  await using relay = await startTestRelay({ deps: { kv: fake }, limits: LIMITS });
  const handles = Array.from({ length: 20 }, (_, i) => `agent_${i}`);
  const agents = await registerAgents(relay, ...handles);
  const sendAll = () =>
    Promise.all(agents.map((agent, i) => agent.sent({ to: handles[(i + 1) % 20]!, body: i })));
  await sendAll();
  counted.takeCounts();
  const before = fake.commits.length;
  await sendAll();
  const commits = fake.commits.slice(before).filter((commit) => usesIn(commit).length > 0);
  assert.ok(commits.length < 15, `${commits.length} commits of 20 sends`);
  for (const commit of commits) assert.equal(usesIn(commit).length, 1);
  assert.equal(counted.takeCounts()["sig"] ?? 0, 0);
});

Deno.test("a repetition is answered as before by each process on the store, exclusive or shared", async () => {
  using kv = await openMemoryKv();
  const repeat: ((relay: TestRelay) => Promise<void>)[] = [];
  let agents: readonly TestAgent[] = [];
  const kinds: TestRelayOptions[] = [{}, {}, SHARED, SHARED, {}, SHARED, {}];
  for (const [round, options] of kinds.entries()) {
    await using relay = await startTestRelay({ ...options, deps: { kv }, limits: LIMITS });
    if (round === 0) agents = await registerAgents(relay, "alice", "bob");
    for (const again of repeat) await again(relay);
    const [alice, bob] = agents.map((agent) => agent.at(relay));
    const now = relay.clock.seconds();
    for (const timestamp of [now - 299, now, now + 7, now + 300]) {
      const body = `${round} at ${timestamp - now}`;
      repeat.push(await sendOnce(alice!, "bob", body, timestamp));
    }
    repeat.push(await sendOnce(bob!, "bob", `${round} to himself`, now));
    for (const again of repeat) await again(relay);
  }
  await using relay = await startTestRelay({ deps: { kv }, limits: LIMITS });
  for (const again of repeat) await again(relay);
  const inbox = await agents[1]!.at(relay).inbox("limit=200");
  assert.equal(inbox.length, 5 * kinds.length);
  const keys = await useKeys(kv);
  assert.ok(keys.some((key) => key[1] === "group") && keys.some((key) => key[1] !== "group"));
});

Deno.test("a repetition of what a former process accepted is looked up before any refusal but a ban", async () => {
  using kv = await openMemoryKv();
  let again: (relay: TestRelay) => Promise<void>;
  let alice: TestAgent;
  {
    await using relay = await startTestRelay({ deps: { kv } });
    [alice] = await registerAgents(relay, "alice", "bob");
    again = await sendOnce(alice, "bob", "once", relay.clock.seconds());
  }
  await using relay = await startTestRelay({ deps: { kv }, limits: { sendsPerAgentPerMinute: 1 } });
  assertRefused(await alice.at(relay).send({ to: "bob", body: "another" }), "rate_limited");
  await again(relay);
});

Deno.test("a signature counts once while clocks jump and memory forgets what cannot pass", async () => {
  using kv = await openMemoryKv();
  await using relay = await startTestRelay({ deps: { kv }, limits: LIMITS });
  const [alice, bob] = await registerAgents(relay, "alice", "bob");
  const repeat = [];
  for (const i of [0, 1, 2]) {
    repeat.push(await sendOnce(alice, "bob", `${i}`, relay.clock.seconds() + 100 * i));
  }
  relay.clock.advance(3_600_000);
  await relay.relay.crons["figures"]!(); // forgets
  await alice.sent({ to: "bob", body: "an hour ahead" });
  relay.clock.advance(-3_600_000);
  for (const again of repeat) await again(relay);
  assert.equal((await bob.inbox()).length, 4);
});

Deno.test("the attempts of a send that was given up are never stored, however late they come", async () => {
  using kv = await openMemoryKv();
  let fails = false;
  const late: (() => Promise<CommitOutcome>)[] = [];
  const fake = createFakeKv({
    kv,
    maxChecks: 100,
    async intercept(commit, run) {
      if (!fails || usesIn(commit).length === 0) return await run();
      late.push(run);
      throw new TypeError("disk I/O error");
    },
  });
  await using relay = await startTestRelay({ deps: { kv: fake } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob");
  const body = toBytes({ to: "bob", body: "once" });
  const timestamp = relay.clock.seconds();
  const call = () => alice.call("POST", "/v1/messages", { body, timestamp });
  fails = true;
  assertRefused(await call(), "unavailable");
  fails = false;
  assert.ok(late.length > 1);
  assertStatus(await call(), 201);
  for (const run of late) assert.deepEqual(await run(), { ok: false });
  assert.equal((await bob.inbox()).length, 1);
});

Deno.test("a commit that lands after its caller has heard 503 is found by the repetition", async () => {
  using kv = await openMemoryKv();
  const held = Promise.withResolvers<void>();
  let holds = false;
  const fake = createFakeKv({
    kv,
    maxChecks: 100,
    async intercept(commit, run) {
      if (holds && usesIn(commit).length > 0) {
        holds = false;
        await held.promise;
      }
      return await run();
    },
  });
  const queueBounds = {
    jobs: 10,
    bytes: 1_000_000,
    refuseAfterMs: 60_000,
    retryForMs: 4_000,
    giveUpAfterMs: 300,
    checkEveryMs: 5,
  };
  await using relay = await startTestRelay({ deps: { kv: fake }, relay: { queueBounds } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob");
  const body = toBytes({ to: "bob", body: "once" });
  const timestamp = relay.clock.seconds();
  const call = () => alice.call("POST", "/v1/messages", { body, timestamp });
  holds = true;
  assertRefused(await call(), "unavailable");
  const again = call();
  held.resolve();
  const answer = await again;
  assertStatus(answer, 201);
  assert.equal(answer.headers.get("idempotent-replayed"), "true");
  assert.equal((await bob.inbox()).length, 1);
});

for (const fault of ["deniedSuccess", "lostAnswer", "locked", "repeated"] as const) {
  Deno.test(`sends with ${fault} are stored once each, on an exclusive store`, async () => {
    using kv = await openMemoryKv();
    const fake = createFakeKv({ kv, maxChecks: 100, delayMs: 1, seed: 7 });
    await using relay = await startTestRelay({ deps: { kv: fake }, limits: LIMITS });
    const handles = Array.from({ length: 12 }, (_, i) => `agent_${i}`);
    const agents = await registerAgents(relay, ...handles);
    fake.faults[fault] = 0.3;
    const timestamp = relay.clock.seconds();
    for (let round = 0; round < 10; round++) {
      await Promise.all(agents.map(async (agent, i) => {
        const body = toBytes({ to: handles[(i + round) % 12]!, body: `${round}` });
        for (;;) {
          const answer = await agent.call("POST", "/v1/messages", { body, timestamp });
          if (answer.status === 201) break;
          assertRefused(answer, "unavailable");
        }
      }));
    }
    assert.ok(fake.faultCounts[fault] > 0);
    fake.faults[fault] = 0;
    for (const agent of agents) {
      const senders = (await agent.inbox("limit=200")).map(({ from }) => from);
      assert.equal(senders.length, 10);
      assert.equal(new Set(senders).size, 10);
    }
  });
}
