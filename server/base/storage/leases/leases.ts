/**
 * Named leases decide which of several processes does a piece of periodic work now. A lease only
 * saves the others useless work.
 */
import { CLOCK_SKEW_MS } from "../../time/clock_skew.ts";
import { Lease } from "./lease.ts";
import { randomId } from "../rows/random_id.ts";
import type { Store } from "../rows/store.ts";
import { defineRow } from "../rows/row_key.ts";

const leaseKey = defineRow<[name: string]>(["lease"], 1, {
  holds: "which process does a piece of periodic work now, on shared stores",
});

interface LeaseRow {
  v: 1;
  process: string;
  /** Nothing any more: former versions counted what they took. */
  turn: 0;
  untilMs: number;
}

/** A piece of work that this process may do. */
export interface WorkLease {
  /** Called between steps. @returns false when another process holds it by now */
  keep(): Promise<boolean>;
  /** Gives it back. */
  release(): Promise<void>;
}

export class Leases {
  readonly #process: string;
  /** What this process works at, or is about to take or give back. */
  readonly #working = new Set<string>();

  constructor(private readonly store: Store) {
    this.#process = randomId(store);
  }

  /**
   * Takes a lease that nobody holds.
   * @param leaseMs how long it lasts unless kept; the same for all who take it, at most 60 s
   * @returns null while another holds it, in this process or another one
   */
  async take(name: string, leaseMs: number): Promise<WorkLease | null> {
    const working = this.#working;
    if (working.has(name)) return null;
    working.add(name);
    const process = this.#process;
    const lease = new Lease<LeaseRow>(this.store, {
      keys: [leaseKey(name)],
      isOurs: (row) => row.process === process,
      until: (untilMs) => [{ v: 1, process, turn: 0, untilMs } satisfies LeaseRow],
    }, { leaseMs, clockSkewMs: CLOCK_SKEW_MS });
    let isTaken = false;
    try {
      isTaken = await lease.take();
    } finally {
      if (!isTaken) working.delete(name);
    }
    if (!isTaken) return null;
    return {
      keep: () => lease.keep(),
      release: () => lease.release().finally(() => working.delete(name)),
    };
  }
}
