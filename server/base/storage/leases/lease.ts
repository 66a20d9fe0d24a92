/**
 * The one lease: the right to do something until a time, so that of several processes one does it. What
 * must not be done twice is checked in its own commits all the same.
 *
 * - It is taken where no other's runs. One in this process's name that the process does not work by is free
 *   to it: its taking or giving back got no answer.
 * - Others go by its end in the store: by their clocks, and as much longer as hosts' clocks may differ. One
 *   that ends further ahead than a right clock can have written comes from one that was wrong: it is over.
 * - Its holder goes by the time that has passed since the last renewal, as either of its clocks shows. After
 *   a leap, or when it was frozen, it renews before it goes on; it has lost it once another is named.
 * - On an exclusive store nobody else works: a named holder has died, and nothing is written.
 */
import type { Store } from "../rows/store.ts";
import type { RowTransaction } from "../rows/row_transaction.ts";

export interface LeaseTiming {
  /** How long a lease lasts unless renewed, in ms; the same for all who take it. */
  leaseMs: number;
  /** How far hosts' clocks may differ, in ms: for others a lease ends this much later. */
  clockSkewMs: number;
}

/** Whether a lease that somebody else wrote still runs. @param untilMs its end, as its holder stored it */
export function leaseRuns(untilMs: number, timing: LeaseTiming, nowMs: number): boolean {
  return nowMs < untilMs + timing.clockSkewMs && untilMs <= latestEndMs(timing, nowMs);
}

/** The latest end that a lease can have which a right clock has given. */
export function latestEndMs({ leaseMs, clockSkewMs }: LeaseTiming, nowMs: number): number {
  return nowMs + leaseMs + clockSkewMs;
}

/** Where a lease stands: whose it is in the first row, its end in the last, which may be the same. */
export interface LeaseRows<Holder> {
  keys: readonly Deno.KvKey[];
  /** Whether the first row names this process. */
  isOurs(holder: Holder): boolean;
  /** The rows that name it, in the order of their keys. */
  until(untilMs: number): readonly unknown[];
}

export class Lease<Holder> {
  /** Ms since it was made to last its whole length. */
  #passedMs: () => number = () => Infinity;

  constructor(
    private readonly store: Pick<Store, "exclusive" | "transact" | "now" | "clock">,
    private readonly rows: LeaseRows<Holder>,
    private readonly timing: LeaseTiming,
  ) {}

  /** Whether it still runs, as this process last took or renewed it. */
  get isLive(): boolean {
    return this.#passedMs() < this.timing.leaseMs;
  }

  /** @returns false while another's runs */
  take(): Promise<boolean> {
    const { store, rows: { keys, isOurs, until }, timing } = this;
    return this.#lasting(async (transaction) => {
      const found = await transaction.getMany<unknown[]>(keys);
      const holder = found[0]!.value as Holder | null;
      const end = found.at(-1)!.value as { untilMs: number } | null;
      const isFree = holder === null || isOurs(holder) ||
        !leaseRuns(end?.untilMs ?? 0, timing, store.now());
      if (!isFree) return false;
      const values = until(store.now() + timing.leaseMs);
      for (const [i, key] of keys.entries()) transaction.set(key, values[i]);
      return true;
    });
  }

  /** Makes it last its whole length again. @returns false when another process holds it by now */
  renew(): Promise<boolean> {
    const { store, rows: { keys, until }, timing } = this;
    return this.#lasting((transaction) =>
      this.#whileHeld(transaction, () => {
        transaction.set(keys.at(-1)!, until(store.now() + timing.leaseMs).at(-1));
      })
    );
  }

  /** The same where a third of its length has passed, for work in steps. */
  async keep(): Promise<boolean> {
    return this.#passedMs() < this.timing.leaseMs / 3 || await this.renew();
  }

  /** Gives it back, so that the next one need not wait for its end. */
  async release(): Promise<void> {
    if (this.store.exclusive) return;
    await this.store.transact((transaction) =>
      this.#whileHeld(transaction, () => {
        for (const key of this.rows.keys) transaction.delete(key);
      })
    );
  }

  async #lasting(plan: (transaction: RowTransaction) => Promise<boolean>): Promise<boolean> {
    const passedMs = this.store.clock.stopwatch();
    const isHeld = this.store.exclusive || await this.store.transact(plan);
    this.#passedMs = isHeld ? passedMs : () => Infinity;
    return isHeld;
  }

  async #whileHeld(transaction: RowTransaction, write: () => void): Promise<boolean> {
    const { value } = await transaction.get<Holder>(this.rows.keys[0]!);
    if (value === null || !this.rows.isOurs(value)) return false;
    write();
    return true;
  }
}
