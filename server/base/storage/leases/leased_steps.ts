/**
 * Background work in steps of one commit each. One process works at a time, and the next
 * one goes on where it stopped. The store holds what is to be done.
 */
import type { Leases, WorkLease } from "./leases.ts";

const LEASE_MS = 30_000;
const LEASE_ATTEMPTS = 40;
const LEASE_PAUSE_MS = 50;
/** After so many failures a run ends: it is the store that fails, and not a piece. */
const MOST_FAILURES = 10;

/** @template Id what names a piece of work, such as an agent's id */
export interface LeasedWork<Id> {
  leases: Leases;
  /** Name of the lease. */
  name: string;
  /** Pieces of work that are not finished. */
  pending(): Promise<Id[]>;
  /** Makes one step of a piece. @returns whether more may be left of it */
  step(id: Id): Promise<boolean>;
}

export class LeasedSteps<Id> {
  #working: Promise<void> | null = null;
  #again = false;
  #closed = false;

  constructor(private readonly work: LeasedWork<Id>) {}

  /**
   * Works until nothing is left, or another process works. Includes work that begins meanwhile.
   * @throws the first failure of a step, after the other pieces have had theirs
   */
  run(): Promise<void> {
    this.#again = true;
    return this.#working ??= this.#work().finally(() => this.#working = null);
  }

  /** Ends after the step under way; the next process goes on from there. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#working?.catch(() => {});
  }

  async #work(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      if ((await this.work.pending()).length === 0) continue;
      const lease = await this.#takeLease();
      if (lease === null) return;
      try {
        if (!(await this.#endAll(lease))) return;
      } finally {
        await lease.release();
      }
    }
  }

  /** Works until nothing is left. @returns false when the lease was lost, or this is closed */
  async #endAll(lease: WorkLease): Promise<boolean> {
    const { pending, step } = this.work;
    for (let left = await pending(); left.length > 0; left = await pending()) {
      const failures: unknown[] = [];
      for (const id of left) {
        for (let more = true; more && !this.#closed;) {
          // A piece that fails each time must not hold up those after it.
          more = await step(id).catch((error) => {
            if (failures.push(error) === MOST_FAILURES) throw failures[0];
            return false;
          });
          if (!(await lease.keep())) return false;
        }
      }
      if (failures.length > 0) throw failures[0];
      if (this.#closed) return false;
    }
    return true;
  }

  /** Another process may be at its last step, and not see the work that has just begun. */
  async #takeLease(): Promise<WorkLease | null> {
    const { leases, name, pending } = this.work;
    for (let attempt = 0; attempt < LEASE_ATTEMPTS && !this.#closed; attempt++) {
      const lease = await leases.take(name, LEASE_MS);
      if (lease !== null) return lease;
      await new Promise((resolve) => setTimeout(resolve, LEASE_PAUSE_MS));
      if ((await pending()).length === 0) return null;
    }
    return null;
  }
}
