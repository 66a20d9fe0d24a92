/**
 * After any week of traffic with bans in it, by any number of processes, the figures are what a
 * recount of the store gives.
 */
import assert from "node:assert/strict";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { createTestClock } from "../../support/clock.ts";
import { createFakeKv, type FakeKv, seededRandom } from "../../support/fake_kv.ts";
import { ADMIN_TOKEN, askAdmin, readFigures, recount } from "../../support/figures.ts";
import { isLong } from "../../support/long_test.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";

const HANDLES = ["ada", "bob_1", "carol", "dave_1", "erin_1", "frank", "grace", "qa_bot", "sim_1"];
const HOUR_MS = 3_600_000;
/** After this anybody may take a lease of background work that was not renewed. */
const LEASE_MS = 31_000;
const FAULTS = { deniedSuccess: 0.03, lostAnswer: 0.03, locked: 0.05, repeated: 0.03 };
const NO_FAULTS = { deniedSuccess: 0, lostAnswer: 0, locked: 0, repeated: 0 };

interface Network {
  relays: TestRelay[];
  clock: ReturnType<typeof createTestClock>;
  /** Where the recount reads. */
  kv: Deno.Kv;
}

/** In the second week it is the recipient, in the fourth the sender whose ban outlives an unban. */
const SEEDS = isLong ? [1, 2, 3, 4] : [2, 4];
const BAD_SEEDS = isLong ? [1, 2] : [2];

/** Nine days: bursts of sends through all relays, bans and unbans in between and at the same time. */
async function liveThrough({ relays, clock, kv }: Network, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[]) => items[below(items.length)]!;
  const agents: TestAgent[] = [];
  for (const handle of HANDLES) agents.push(await registerAgent(pick(relays), handle));
  let totalMessages = 0;
  let mostEvents = 0;

  /** Runs the relays' periodic work until no ban is being applied any more. */
  async function settle(): Promise<void> {
    for (let tries = 0; tries < 20; tries++) {
      for (const relay of relays) await relay.relay.crons.figures!();
      const sweeps = await Array.fromAsync(kv.list({ prefix: ["sweep"] }));
      if (sweeps.length === 0) return;
      // One that failed on the store may have left its lease behind, or another is still at work.
      clock.advance(LEASE_MS);
    }
  }

  async function check(moment: string): Promise<void> {
    await settle();
    const expected = await recount(kv, clock.now());
    for (const [i, relay] of relays.entries()) {
      assert.deepEqual(await readFigures(relay), expected, `seed ${seed}, ${moment}, relay ${i}`);
    }
    assert.ok(expected.stats.total_messages >= totalMessages);
    totalMessages = expected.stats.total_messages;
    mostEvents = Math.max(mostEvents, expected.events.length);
  }

  for (let round = 0; round < 60; round++) {
    const acts: Promise<unknown>[] = [];
    for (let i = 1 + below(8); i > 0; i--) {
      const from = pick(agents).at(pick(relays));
      const to = pick(HANDLES);
      acts.push(from.send({ to, body: { round, i } }));
    }
    if (random() < 0.5) {
      acts.push(askAdmin(pick(relays), random() < 0.5 ? "ban" : "unban", pick(agents).address));
    }
    await Promise.all(acts);
    if (random() < 0.3) await pick(relays).relay.crons.figures!();
    if (random() < 0.1) await check(`round ${round}`);
    // Seconds within a burst, hours between them.
    clock.advance(random() < 0.4 ? 2_000 + below(60_000) : below(9 * HOUR_MS));
  }
  await check("at the end");
  for (const days of [3, 4, 8, 16]) {
    clock.advance(days * 24 * HOUR_MS);
    await check(`${days} days later`);
  }
  for (const agent of agents) await askAdmin(pick(relays), "unban", agent.address);
  await check("everybody unbanned");
  assert.ok(mostEvents > 40, `the week had only ${mostEvents} events to count`);
}

for (const seed of SEEDS) {
  Deno.test(`figures equal a recount after a week of traffic and bans, exclusive store, seed ${seed}`, async () => {
    const clock = createTestClock();
    await using relay = await startTestRelay({
      config: { adminToken: ADMIN_TOKEN },
      limits: { registrationsPerIpPerHour: 100 },
      deps: { now: clock.now },
    });
    relay.clock = clock;
    await liveThrough({ relays: [relay], clock, kv: relay.deps.kv }, seed);
  });

  for (const bad of BAD_SEEDS.includes(seed) ? [false, true] : [false]) {
    const store = bad ? "a bad KV server" : "a shared store";
    Deno.test(`figures equal a recount after a week of traffic and bans, three relays on ${store}, seed ${seed}`, async () => {
      const clock = createTestClock();
      const kv = await openMemoryKv();
      const relays: TestRelay[] = [];
      const fakes: FakeKv[] = [];
      try {
        for (let i = 0; i < 3; i++) {
          const fake = createFakeKv({
            kv,
            seed: seed * 10 + i,
            maxChecks: bad ? 10 : 100,
            delayMs: bad ? 2 : 0,
          });
          const relay = await startTestRelay({
            config: { sharedStore: true, adminToken: ADMIN_TOKEN },
            limits: { registrationsPerIpPerHour: 100 },
            deps: { kv: fake, now: clock.now },
            relay: { capacity: bad ? KV_CONNECT_CAPACITY : EMBEDDED_CAPACITY },
          });
          relay.clock = clock;
          relays.push(relay);
          if (bad) Object.assign(fake.faults, FAULTS);
          fakes.push(fake);
        }
        await liveThrough({ relays, clock, kv }, seed);
      } finally {
        for (const fake of fakes) Object.assign(fake.faults, NO_FAULTS);
        for (const relay of relays) await relay.stop();
        kv.close();
      }
    });
  }
}
