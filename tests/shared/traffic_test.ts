import { join } from "node:path";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { createFakeKv, type FakeKv, type Faults, NO_FAULTS } from "../support/fake_kv.ts";
import { isLong } from "../support/long_test.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { runTraffic, TRAFFIC_LIMITS } from "../support/traffic.ts";

const SEEDS = isLong ? [1, 2, 3] : [1];

const BAD_FAULTS: Faults = { deniedSuccess: 0.05, lostAnswer: 0.05, locked: 0.1, repeated: 0.05 };

async function closeAll(relays: readonly TestRelay[]): Promise<void> {
  for (const relay of relays) await relay.stop();
}

for (const seed of SEEDS) {
  Deno.test(`traffic on an exclusive store loses and doubles nothing, in order (seed ${seed})`, async () => {
    const relay = await startTestRelay({ limits: TRAFFIC_LIMITS });
    try {
      await runTraffic([relay], { seed, agents: 6, sendsAnAgent: 40, width: 4 });
    } finally {
      await relay.stop();
    }
  });

  Deno.test(`traffic over three relays on one file loses and doubles nothing, in order (seed ${seed})`, async () => {
    const dir = await Deno.makeTempDir({ prefix: "relay-shared-" });
    const relays: TestRelay[] = [];
    try {
      for (let i = 0; i < 3; i++) {
        relays.push(
          await startTestRelay({
            limits: TRAFFIC_LIMITS,
            config: { sharedStore: true },
            kvPath: join(dir, "relay.kv"),
          }),
        );
      }
      await runTraffic(relays, { seed, agents: 6, sendsAnAgent: 20, width: 2, toAllPercent: 20 });
    } finally {
      await closeAll(relays);
      await Deno.remove(dir, { recursive: true });
    }
  });

  Deno.test(`traffic over three relays on a bad KV server loses and doubles nothing, in order (seed ${seed})`, async () => {
    const kv = await openMemoryKv();
    const relays: TestRelay[] = [];
    const fakes: FakeKv[] = [];
    try {
      for (let i = 0; i < 3; i++) {
        const fake = createFakeKv({ kv, seed: seed * 10 + i, delayMs: 4 });
        relays.push(
          await startTestRelay({
            limits: TRAFFIC_LIMITS,
            config: { sharedStore: true, hosted: true },
            deps: { kv: fake },
            relay: { capacity: KV_CONNECT_CAPACITY },
          }),
        );
        Object.assign(fake.faults, BAD_FAULTS);
        fakes.push(fake);
      }
      await runTraffic(relays, { seed, agents: 6, sendsAnAgent: 20, width: 3, toAllPercent: 25 });
    } finally {
      for (const fake of fakes) Object.assign(fake.faults, NO_FAULTS); // it is not the shutdown's turn
      await closeAll(relays);
      kv.close();
    }
  });
}

Deno.test("traffic on an exclusive store whose answers get lost loses and doubles nothing", async () => {
  const kv = await openMemoryKv();
  const faults = { deniedSuccess: 0.1, lostAnswer: 0.1, locked: 0.1 };
  const fake = createFakeKv({ kv, seed: 5, maxChecks: 100, faults });
  const relay = await startTestRelay({
    limits: TRAFFIC_LIMITS,
    deps: { kv: fake },
    relay: { capacity: EMBEDDED_CAPACITY },
  });
  try {
    await runTraffic([relay], { seed: 5, agents: 5, sendsAnAgent: 40, width: 4, toAllPercent: 20 });
  } finally {
    Object.assign(fake.faults, NO_FAULTS);
    await relay.stop();
    kv.close();
  }
});
