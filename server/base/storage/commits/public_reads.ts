/**
 * Reads of the store for requests without credentials. Few run at a time, so that many such
 * requests leave the store's thread to signed requests. A result is given again until this process
 * commits something or the result is older than the caller allows.
 */
import { RelayError } from "../../errors.ts";
import { KeptResults } from "../../bounds/kept_results.ts";
import type { RecordCache } from "./record_cache.ts";
import { Semaphore } from "../../bounds/semaphore.ts";
import type { Store } from "../rows/store.ts";

/** How many reads are kept; the largest are directory pages of some 100 KB. */
const KEPT_READS = 32;
const MAX_WAITING = 2_000;

export class PublicReads {
  readonly #semaphore: Semaphore;
  readonly #kept: KeptResults<unknown>;

  constructor(
    store: Pick<Store, "capacity" | "now">,
    private readonly records: Pick<RecordCache, "revision">,
  ) {
    this.#kept = new KeptResults(() => store.now(), KEPT_READS);
    this.#semaphore = new Semaphore({
      permits: store.capacity.groupsInFlight,
      maxWaiting: MAX_WAITING,
      refusal: tooManyReads,
    });
  }

  /** Reads from the store, in a queue. @throws RelayError `unavailable` when too many wait */
  run<T>(read: () => Promise<T>): Promise<T> {
    return this.#semaphore.run(read);
  }

  /**
   * Gives what the store held at most so long ago. The result includes everything that this process
   * had committed before the call.
   * @param name names the read
   * @throws as run()
   */
  recent<T>(name: string, maxAgeMs: number, read: () => Promise<T>): Promise<T> {
    const { revision } = this.records;
    return this.#kept.get(name, { maxAgeMs, revision }, () => this.run(read)) as Promise<T>;
  }
}

function tooManyReads(): RelayError {
  return new RelayError(
    "unavailable",
    "the relay has more unauthenticated reads waiting than it takes; ask again after Retry-After",
    { retryAfterMs: 1000 },
  );
}
