/** A store in memory whose own expiry follows a clock of the test, as Deno KV's follows the system's. */
import type { TestClock } from "./clock.ts";
import { createFakeKv } from "./fake_kv.ts";

export interface ExpiringKv {
  /** What relays are given. */
  kv: Deno.Kv;
  /** Deletes what has expired by the clock's wall time, as the store does seconds after a leap. */
  expire(): Promise<void>;
  /** Keys of the rows that will expire. */
  readonly expiring: readonly Deno.KvKey[];
}

export function createExpiringKv(
  kv: Deno.Kv,
  clock: Pick<TestClock, "now">,
  { maxChecks = 100 }: { maxChecks?: number } = {},
): ExpiringKv {
  const ends = new Map<string, { key: Deno.KvKey; atMs: number }>();
  const nameOf = (key: Deno.KvKey) => Deno.inspect(key, { strAbbreviateSize: Infinity });
  return {
    kv: createFakeKv({
      kv,
      maxChecks,
      async intercept({ writes }, run) {
        const outcome = await run();
        for (const { key, expireIn } of outcome.ok ? writes : []) {
          if (expireIn === undefined) ends.delete(nameOf(key));
          else ends.set(nameOf(key), { key, atMs: clock.now() + expireIn });
        }
        return outcome;
      },
    }),
    get expiring() {
      return [...ends.values()].map(({ key }) => key);
    },
    async expire() {
      for (const [name, { key, atMs }] of ends) {
        if (atMs > clock.now()) continue;
        ends.delete(name);
        await kv.delete(key);
      }
    },
  };
}
