/** Rows of signatures are deleted only when no process can still commit what they would have refused. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { createTestClock, type TestClock } from "../support/clock.ts";
import { createFakeKv, type FakeKvOptions } from "../support/fake_kv.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgents, toBytes } from "../support/test_agent.ts";

const HOUR_MS = 3_600_000;
/** So long that no renewal, which real time brings, comes into a test that moves the clock. */
const SLOT_TIMING = { leaseMs: 600_000, clockSkewMs: 100 };

/** A process of its own on a store that others use too, by a clock of its own. */
function startProcess(
  kv: Deno.Kv,
  clock: TestClock,
  intercept?: FakeKvOptions["intercept"],
): Promise<TestRelay> {
  const { now, elapsed } = clock;
  const fake = createFakeKv({ kv, maxChecks: 100, intercept });
  const deps = { kv: fake, now, elapsed };
  return startTestRelay({
    deps,
    config: { sharedStore: true },
    relay: { slotTiming: SLOT_TIMING },
  });
}

const everyMinute = (relay: TestRelay) => relay.relay.crons["figures"]!();

async function sigRows(kv: Deno.Kv): Promise<number> {
  return (await Array.fromAsync(kv.list({ prefix: ["sig"] }))).length;
}

/** Holds the next commit of a send between its plan and the store. */
function holdSend() {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let holds = true;
  const intercept: FakeKvOptions["intercept"] = async (commit, run) => {
    if (holds && commit.writes.some(({ key }) => key[0] === "sig")) {
      holds = false;
      reached.resolve();
      await released.promise;
    }
    return await run();
  };
  return { intercept, reached: reached.promise, release: () => released.resolve() };
}

Deno.test("a process that was frozen for hours stores no repetition of a send whose row was deleted", async () => {
  using kv = await openMemoryKv();
  const [clock, frozenClock] = [createTestClock(), createTestClock()];
  const held = holdSend();
  await using frozen = await startProcess(kv, frozenClock, held.intercept);
  await using other = await startProcess(kv, clock);
  const [alice, bob] = await registerAgents({ url: other.url, clock }, "alice", "bob");
  const body = toBytes({ to: "bob", body: "once" });
  const timestamp = clock.seconds();
  const call = (relay: TestRelay) =>
    alice.at({ url: relay.url, clock }).call("POST", "/v1/messages", { body, timestamp });

  const late = call(frozen);
  await held.reached;
  assertStatus(await call(other), 201);
  clock.advance(3 * HOUR_MS);
  for (let minute = 0; minute < 3; minute++) await everyMinute(other);
  assert.equal(await sigRows(kv), 0);
  held.release();
  assertRefused(await late, "unavailable", /no longer knows what it accepted/);
  assert.equal((await bob.inbox()).length, 1);

  // It works on by another slot, once its clock is right.
  frozenClock.set(clock.now());
  await alice.at({ url: frozen.url, clock }).sent({ to: "bob", body: "later" });
  assert.equal((await bob.inbox()).length, 2);
});

Deno.test("a process of a former version, which knows no floor, has rows stay until it is gone", async () => {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  await using relay = await startProcess(kv, clock);
  const [alice] = await registerAgents({ url: relay.url, clock }, "alice", "bob");
  await alice.sent({ to: "bob", body: "once" });
  const renew = () => kv.set(["slot", 255, "lease"], { v: 1, untilMs: clock.now() + 30_000 });
  await kv.set(["slot", 255, "owner"], { v: 1, holder: "former" });
  clock.advance(3 * HOUR_MS);
  for (let minute = 0; minute < 3; minute++) {
    await renew();
    await everyMinute(relay);
  }
  assert.equal(await sigRows(kv), 1);
  clock.advance(60_000);
  await everyMinute(relay);
  assert.equal(await sigRows(kv), 0);
  assert.equal((await kv.get(["slot", 255, "owner"])).value, null, "it lost its slot");
});
