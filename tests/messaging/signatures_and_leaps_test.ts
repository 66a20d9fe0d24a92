/** No signed request takes effect twice, whatever the clock did between its repetitions. */
import assert from "node:assert/strict";
import { type Answer, assertRefused, assertStatus } from "../support/answer.ts";
import { createTestClock, type TestClock } from "../support/clock.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../support/relay.ts";
import { registerAgents, type TestAgent, toBytes } from "../support/test_agent.ts";

const HOUR_MS = 3_600_000;
const LIMITS = { registrationsPerIpPerHour: 1000, inboxPollIntervalMs: 0 };

const everyMinute = (relay: TestRelay) => relay.relay.crons["figures"]!();

function startAt(clock: TestClock, kv: Deno.Kv, options: TestRelayOptions = {}) {
  const { now, elapsed } = clock;
  return startTestRelay({ limits: LIMITS, ...options, deps: { kv, now, elapsed } });
}

/** The clock is ahead for so long, while relays do their work of each minute, and then right again. */
async function leapAndReturn(
  clock: TestClock,
  relays: readonly TestRelay[],
  aheadMs = 9 * HOUR_MS,
  forMs = 75_000,
): Promise<void> {
  const minute = async () => {
    for (const relay of relays) await everyMinute(relay);
  };
  clock.leap(aheadMs);
  await minute();
  clock.advance(forMs);
  await minute();
  await minute(); // on shared stores each says what it knows of the first
  clock.leap(-aheadMs);
  await minute();
}

/** Signed requests that change something, each to be repeated byte by byte. */
function signedChanges(agent: TestAgent, clock: TestClock) {
  const target = (relay: TestRelay) => agent.at({ url: relay.url, clock });
  const timestamp = clock.seconds();
  const send = toBytes({ to: "bob", body: `once, at ${timestamp}` });
  const profile = toBytes({ display_name: "Changed" });
  return {
    send: (relay: TestRelay) =>
      target(relay).call("POST", "/v1/messages", { body: send, timestamp }),
    profile: (relay: TestRelay) =>
      target(relay).call("PATCH", "/v1/agents/me", { body: profile, timestamp }),
    token: (relay: TestRelay) => target(relay).call("POST", "/v1/owner-token", { timestamp }),
  };
}

function assertForgotten(answer: Answer): void {
  assertRefused(answer, "unavailable", /no longer knows what it accepted .* sign anew/);
  assert.ok(Number(answer.headers.get("retry-after")) >= 1);
}

async function sigRows(kv: Deno.Kv): Promise<number> {
  return (await Array.fromAsync(kv.list({ prefix: ["sig"] }))).length;
}

for (const sharedStore of [false, true]) {
  const kind = sharedStore ? "a shared store with two relays" : "an exclusive store";
  Deno.test(`what was signed before a clock was nine hours ahead is not taken again, on ${kind}`, async () => {
    using kv = await openMemoryKv();
    const clock = createTestClock();
    const config = { sharedStore };
    let agents: readonly TestAgent[];
    let changes: ReturnType<typeof signedChanges>;
    {
      await using one = await startAt(clock, kv, { config });
      await using two = sharedStore ? await startAt(clock, kv, { config }) : undefined;
      const relays = [one, ...(two === undefined ? [] : [two])];
      agents = await registerAgents({ url: one.url, clock }, "alice", "bob");
      changes = signedChanges(agents[0]!, clock);
      assertStatus(await changes.send(relays.at(-1)!), 201);
      assertStatus(await changes.profile(one), 200);
      assertStatus(await changes.token(one), 201);
      assert.ok(await sigRows(kv) >= 3);

      await leapAndReturn(clock, relays);
      assert.equal(await sigRows(kv), 0, "all were swept");
      for (const relay of relays) {
        for (const call of Object.values(changes)) assertForgotten(await call(relay));
      }
      // A new signature is served at once.
      await agents[0]!.at({ url: one.url, clock }).sent({ to: "bob", body: "anew" });
      for (const call of Object.values(signedChanges(agents[0]!, clock))) {
        assert.ok((await call(relays.at(-1)!)).status < 300);
      }
    }
    await using later = await startAt(clock, kv, { config });
    for (const call of Object.values(changes)) assertForgotten(await call(later));
    assert.equal((await agents[1]!.at({ url: later.url, clock }).inbox()).length, 3);
    const { value } = await kv.get<{ second: number }>(["sig-floor"]);
    assert.ok(value!.second < clock.seconds() - 60, "no later than what was signed");
  });
}

Deno.test("a repetition is its first answer as long as nothing was swept, and never within a leap", async () => {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  await using relay = await startAt(clock, kv);
  const [alice, bob] = await registerAgents({ url: relay.url, clock }, "alice", "bob");
  const { send } = signedChanges(alice, clock);
  const first = await send(relay);
  assertStatus(first, 201);
  await leapAndReturn(clock, [relay], 9 * HOUR_MS, 15_000);
  const again = await send(relay);
  assertStatus(again, 201);
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get("idempotent-replayed"), "true");
  assert.equal((await bob.inbox()).length, 1);
});

Deno.test("a floor ahead of the clock has signed changes wait until it has passed, or RELAY_CLOCK_CHECK is off at a start", async () => {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  const far = 9 * HOUR_MS;
  let alice: TestAgent;
  {
    await using relay = await startAt(clock, kv);
    const target = { url: relay.url, clock };
    [alice] = await registerAgents(target, "alice", "bob");
    clock.leap(far); // for good, as it seems: what is signed by it is accepted
    await everyMinute(relay);
    clock.advance(75_000);
    await alice.sent({ to: "bob", body: "ahead" });
    await leapAndReturn(clock, [relay]);
    clock.leap(-far);
    const answer = await alice.send({ to: "bob", body: "back" });
    assertForgotten(answer);
    const waitMs = Number(answer.headers.get("retry-after")) * 1000;
    assert.ok(waitMs > far - 120_000 && waitMs <= far, `${waitMs}`);
    assertStatus(await alice.poll(), 200);
  }
  {
    await using relay = await startAt(clock, kv);
    assert.match(relay.relay.startupNotes().join("\n"), /is refused until the clock has passed it/);
    assertForgotten(await alice.at({ url: relay.url, clock }).send({ to: "bob", body: "back" }));
  }
  clock.advance(1_000);
  {
    const config = { clockCheck: false };
    await using relay = await startAt(clock, kv, { config });
    assert.match(
      relay.relay.startupNotes().join("\n"),
      /signatures for a time up to \S+Z are taken/,
    );
    const at = alice.at({ url: relay.url, clock });
    assertForgotten(await at.send({ to: "bob", body: "not later than the start" }));
    clock.advance(1_000);
    await at.sent({ to: "bob", body: "later" });
  }
  await using relay = await startAt(clock, kv);
  assert.doesNotMatch(relay.relay.startupNotes().join("\n"), /refused until/);
  clock.advance(1_000);
  await alice.at({ url: relay.url, clock }).sent({ to: "bob", body: "lifted for good" });
});
