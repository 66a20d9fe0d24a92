/** Relays with mail on that share one store, as processes of one deployment do. */
import type { Limits } from "../../server/base/config/limits.ts";
import type { Mailer } from "../../server/base/mailer/mailer.ts";
import { KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { createFakeKv, type FakeKv, type FakeKvOptions } from "./fake_kv.ts";
import { startMailRelay } from "./mail_relay.ts";
import { openMemoryKv } from "./read_through.ts";
import type { TestRelay } from "./relay.ts";

export interface MailPair extends AsyncDisposable {
  relays: readonly [TestRelay, TestRelay];
  /** The store itself, without the faults that the relays meet. */
  kv: Deno.Kv;
  fakes: readonly FakeKv[];
  /** Clock of both. */
  clock: TestClock;
}

export interface MailPairOptions {
  limits?: Partial<Limits>;
  /** The next hop of both; local mode's unless given. */
  mailer?: Mailer;
  fake?: Omit<FakeKvOptions, "kv" | "seed">;
  /** One relay, which has the store to itself, in both places. */
  alone?: boolean;
}

/** Two relays on one store that takes what a KV server takes: ten checks a commit. */
export async function startMailPair(
  { limits, mailer, fake, alone = false }: MailPairOptions = {},
): Promise<MailPair> {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const dataDir = await Deno.makeTempDir({ prefix: "relay-mail-pair-" });
  const { faults, ...others } = fake ?? {};
  const fakes = [1, 2].map((seed) => createFakeKv({ kv, seed, ...others }));
  const start = async (shared: Deno.Kv) => {
    const relay = await startMailRelay({
      config: { sharedStore: !alone, dataDir },
      deps: { kv: shared, now: clock.now, ...(mailer === undefined ? {} : { mailer }) },
      relay: { capacity: KV_CONNECT_CAPACITY },
      ...(limits === undefined ? {} : { limits }),
    });
    return Object.assign(relay, { clock });
  };
  const first = await start(fakes[0]!);
  const relays = [first, alone ? first : await start(fakes[1]!)] as const;
  for (const one of fakes) Object.assign(one.faults, faults); // both relays have opened without
  return {
    relays,
    kv,
    fakes,
    clock,
    async [Symbol.asyncDispose]() {
      try {
        for (const relay of relays) await relay.stop();
      } finally {
        kv.close();
        await Deno.remove(dataDir, { recursive: true });
      }
    },
  };
}
