/** What is injected everywhere: the outside world, so that tests move the clock instead of sleeping. */
import type { Clock } from "../time/clock.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../log.ts";
import type { Mailer } from "../mailer/mailer.ts";
import type { Backend } from "../storage/rows/backend.ts";

export interface Deps {
  config: Config;
  /** What keeps the rows. */
  backend: Backend;
  /** Wall time, unix ms. It may leap: parts are given the time that is relied on, as Store.now. */
  now: Clock;
  /** Monotonic ms since some time. It never leaps; it stops while the machine sleeps. */
  elapsed: Clock;
  /** Cryptographically random bytes. */
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
  fetch: typeof fetch;
  /** The next hop of outbound mail; undefined where none is configured. */
  mailer?: Mailer;
  log: Log;
}
