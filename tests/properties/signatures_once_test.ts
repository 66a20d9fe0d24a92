/** A signed request takes effect once, whatever clocks, sweeps and restarts do; honest ones go on. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Answer, assertErrorShape } from "../support/answer.ts";
import { createTestClock } from "../support/clock.ts";
import { isLong } from "../support/long_test.ts";
import { propertyRuns } from "../support/property_runs.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgents, toBytes } from "../support/test_agent.ts";

const HOUR_MS = 3_600_000;
const LIMITS = { sendsPerAgentPerMinute: 100_000, inboxPollIntervalMs: 0 };
/** How far from its start time a clock may come: a relay does not start a day behind its store. */
const FARTHEST_MS = 11 * HOUR_MS;

const at = fc.nat(1);
const ms = (...of: number[]) => fc.constantFrom(...of);
const step = <K extends string, T extends object>(
  weight: number,
  kind: K,
  fields: fc.Arbitrary<T>,
) => ({
  weight,
  arbitrary: fields.map((of) => ({ kind, ...of })),
});
const steps = fc.oneof(
  step(4, "send", fc.record({ at, skew: fc.integer({ min: -299, max: 300 }) })),
  step(5, "repeat", fc.record({ at, of: fc.nat() })),
  step(1, "leap", fc.record({ ms: ms(9 * HOUR_MS, -9 * HOUR_MS, 3 * HOUR_MS, 100_000, -600_000) })),
  step(3, "advance", fc.record({ ms: ms(1_000, 20_000, 75_000, 3 * HOUR_MS) })),
  step(3, "minute", fc.record({ at })),
  step(1, "restart", fc.record({ at })),
  // Ahead for a while, and back.
  step(2, "excursion", fc.record({ ms: ms(9 * HOUR_MS, 3 * HOUR_MS), forMs: ms(15_000, 75_000) })),
);
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never;

interface Signed {
  body: Uint8Array<ArrayBuffer>;
  timestamp: number;
  id?: number;
}

interface Counts {
  accepted: number;
  replayed: number;
  forgotten: number;
}

async function run(taken: readonly Step[], sharedStore: boolean, counts: Counts): Promise<void> {
  using kv = await openMemoryKv();
  const clock = createTestClock();
  const { now, elapsed } = clock;
  const startMs = now();
  const start = () =>
    startTestRelay({ limits: LIMITS, config: { sharedStore }, deps: { kv, now, elapsed } });
  const relays: TestRelay[] = [await start()];
  if (sharedStore) relays.push(await start());
  const minute = (relay: TestRelay) => relay.relay.crons["figures"]!();
  const [alice, bob] = await registerAgents({ url: relays[0]!.url, clock }, "alice", "bob");
  const signed: Signed[] = [];
  const mayMove = (byMs: number) => Math.abs(now() + byMs - startMs) <= FARTHEST_MS;

  async function send(at: number, one: Signed): Promise<Answer> {
    const { body, timestamp } = one;
    const target = { url: relays[at % relays.length]!.url, clock };
    const answer = await alice.at(target).call("POST", "/v1/messages", { body, timestamp });
    if (answer.status !== 201) {
      if (/no longer knows/.test(answer.text)) counts.forgotten++;
      return answer;
    }
    const isReplay = answer.headers.get("idempotent-replayed") === "true";
    assert.equal(isReplay, one.id !== undefined, "what was accepted is answered as before");
    assert.equal(answer.json.id, one.id ?? answer.json.id);
    one.id = answer.json.id;
    counts[isReplay ? "replayed" : "accepted"]++;
    return answer;
  }

  async function sendNew(at: number, timestamp: number): Promise<void> {
    const one: Signed = { body: toBytes({ to: "bob", body: signed.length }), timestamp };
    signed.push(one);
    const answer = await send(at, one);
    if (answer.status === 201) return;
    assert.equal(assertErrorShape(answer), "unavailable");
    if (/clock has leapt/.test(answer.text)) return;
    const floor = await kv.get<{ second: number }>(["sig-floor"]);
    assert.ok(timestamp <= floor.value!.second, "refused though above the floor");
  }

  async function take(step: Step): Promise<void> {
    switch (step.kind) {
      case "send":
        return await sendNew(step.at, clock.seconds() + step.skew);
      case "repeat":
        if (signed.length > 0) await send(step.at, signed[step.of % signed.length]!);
        return;
      case "leap":
        return mayMove(step.ms) ? clock.leap(step.ms) : undefined;
      case "advance":
        return mayMove(step.ms) ? clock.advance(step.ms) : undefined;
      case "minute":
        return await minute(relays[step.at % relays.length]!);
      case "restart": {
        const at = step.at % relays.length;
        await relays[at]!.stop();
        relays[at] = await start();
        return;
      }
      case "excursion":
        if (!mayMove(step.ms)) return;
        clock.leap(step.ms);
        for (const relay of relays) await minute(relay);
        clock.advance(step.forMs);
        for (const relay of [...relays, ...relays]) await minute(relay);
        clock.leap(-step.ms);
    }
  }

  for (const step of taken) await take(step);
  // The clock is right for good: who signs again is served once the floor is passed.
  for (const relay of relays) await minute(relay);
  clock.advance(2 * FARTHEST_MS + 75_000);
  await sendNew(1, clock.seconds());
  assert.notEqual(signed.at(-1)!.id, undefined);
  const inbox = await bob.at({ url: relays[0]!.url, clock }).inbox("limit=200");
  const accepted = signed.flatMap(({ id }) => id === undefined ? [] : [id]);
  assert.deepEqual(inbox.map(({ id }) => id), accepted.toSorted((a, b) => a - b));
  for (const relay of relays) await relay.stop();
}

for (const sharedStore of [false, true]) {
  const what = sharedStore ? "two relays on a shared store" : "a relay that has its store alone";
  Deno.test(`no signed request takes effect twice while clocks leap, at ${what}`, async () => {
    const counts: Counts = { accepted: 0, replayed: 0, forgotten: 0 };
    const sequences = fc.array(steps, { minLength: 20, maxLength: 60, size: "max" });
    await fc.assert(
      fc.asyncProperty(sequences, (taken) => run(taken, sharedStore, counts)),
      propertyRuns(isLong ? 12 : 4, false),
    );
    for (const [name, count] of Object.entries(counts)) assert.ok(count > 0, name);
  });
}
