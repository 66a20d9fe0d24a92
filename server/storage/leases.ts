/**
 * Named leases decide which of several processes does a piece of periodic work now. A lease only
 * saves the others useless work. Work that must not be done twice is checked in its own commits.
 */
import { leaseRuns } from "./lease_runs.ts";
import { randomId } from "./random_id.ts";
import type { Store } from "./store.ts";
import type { Transaction } from "./transaction.ts";

/** ["lease", name] */
interface LeaseRow {
  v: 1;
  /** The process that took it, and how many leases it had taken by then, this one included. */
  process: string;
  turn: number;
  untilMs: number;
}

export interface Lease {
  /** Makes it last its whole length again. @returns false when another process has it by now */
  renew(): Promise<boolean>;
  /** Gives it back. */
  release(): Promise<void>;
}

const leaseKey = (name: string): Deno.KvKey => ["lease", name];

export class Leases {
  readonly #process: string;
  #turns = 0;
  /** Turns that were taken or given back without an answer: nobody works by them. */
  readonly #unanswered = new Set<number>();

  constructor(private readonly store: Store) {
    this.#process = randomId(store);
  }

  /**
   * Takes a lease that nobody holds. On an exclusive store, leases of former processes are free.
   * So is, for this process, one whose taking or giving back failed: it may have been applied.
   * @param lengthMs how long it lasts unless renewed; the same for all who take it, at most 60 s
   * @returns null while another holder's lease runs
   */
  async take(name: string, lengthMs: number): Promise<Lease | null> {
    const { store } = this;
    const { now, exclusive } = store;
    const key = leaseKey(name);
    const turn = ++this.#turns;
    const isMine = (row: LeaseRow | null) => row?.process === this.#process && row.turn === turn;
    const next = (): LeaseRow => ({
      v: 1,
      process: this.#process,
      turn,
      untilMs: now() + lengthMs,
    });

    const taken = await this.#noting(
      turn,
      store.transact(async (transaction) => {
        const held = await transaction.get<LeaseRow>(key);
        const orphaned = held.value?.process === this.#process
          ? this.#unanswered.has(held.value.turn)
          : exclusive;
        const runs = held.value !== null && !orphaned &&
          leaseRuns(held.value.untilMs, { lengthMs }, now());
        if (runs) return false;
        transaction.set(key, next());
        return true;
      }),
    );
    if (!taken) return null;

    const change = (write: (transaction: Transaction) => void): Promise<boolean> =>
      store.transact(async (transaction) => {
        if (!isMine((await transaction.get<LeaseRow>(key)).value)) return false;
        write(transaction);
        return true;
      });
    return {
      renew: () => change((transaction) => transaction.set(key, next())),
      release: () =>
        this.#noting(turn, change((transaction) => transaction.delete(key)).then(() => {})),
    };
  }

  /** Remembers a turn whose answer did not come. */
  async #noting<T>(turn: number, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      this.#unanswered.add(turn);
      throw error;
    }
  }
}
