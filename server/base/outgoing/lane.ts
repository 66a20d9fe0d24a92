/**
 * The due rows of one kind for one destination: the first ones in memory, the rest in the store.
 */
import type { Store } from "../storage/rows/store.ts";
import { laneKey } from "./outgoing_row.ts";
import { CircuitBreaker } from "./circuit_breaker.ts";
import type { Parties } from "./shares.ts";

/** Wait after a read that failed. */
const READ_AGAIN_MS = 1_000;

/** A row, as it stands in the index of its lane. */
export interface DueEntry {
  id: string;
  dueMs: number;
}

export class Lane {
  /** Due rows, to be attempted in this order. */
  readonly ready: DueEntry[] = [];
  /** Attempts under way. */
  running = 0;
  /** True while rows are being read. */
  reading = false;
  /** No row outside `ready` is due before this time, to this process's knowledge. */
  #nextDueMs = Infinity;

  /**
   * @param parties who shares the slots of its kind
   * @param reach shared with other lanes where one next hop is behind them
   */
  constructor(
    readonly kind: string,
    readonly destination: string,
    readonly parties: Parties = {},
    readonly breaker: CircuitBreaker = new CircuitBreaker(),
  ) {}

  /** Records that the store has a row with this due time. */
  wake(dueMs: number): void {
    this.#nextDueMs = Math.min(this.#nextDueMs, dueMs);
  }

  /**
   * Takes a row that is due and was stored just now, without reading it.
   * @param most rows in memory
   * @returns false where others come before it in the store, or may
   */
  take(entry: DueEntry, most: number): boolean {
    const { ready, reading } = this;
    if (reading || this.#nextDueMs < Infinity || ready.length >= most) return false;
    if (ready.length > 0 && ready.at(-1)!.dueMs > entry.dueMs) return false;
    ready.push(entry);
    return true;
  }

  get nextDueMs(): number {
    return this.#nextDueMs;
  }

  /** Whether rows should be read now. */
  wants(nowMs: number): boolean {
    return this.ready.length === 0 && !this.reading && this.#nextDueMs <= nowMs &&
      this.breaker.mayTry(nowMs);
  }

  /** Whether nothing happens in it before a row falls due. */
  get isIdle(): boolean {
    return this.ready.length === 0 && !this.reading && this.running === 0;
  }

  /** Whether no row is known to wait. */
  get isEmpty(): boolean {
    return this.isIdle && this.#nextDueMs === Infinity;
  }

  /**
   * Reads the first due rows.
   * @param limit rows to read
   * @param restUntilMs until when a row must be left alone: Infinity while it is attempted, null
   * for a row that is free
   */
  async read(
    store: Pick<Store, "batches">,
    nowMs: number,
    limit: number,
    restUntilMs: (id: string) => number | null,
  ): Promise<void> {
    this.reading = true;
    this.#nextDueMs = Infinity; // wake() calls from here on count
    try {
      const found: DueEntry[] = [];
      let nextDueMs = Infinity;
      const prefix = laneKey.under(this.kind, this.destination);
      const batchSize = Math.min(500, limit + this.running + 1);
      reading: for await (const rows of store.batches({ prefix }, { batchSize })) {
        for (const { key } of rows) {
          const [, , , dueMs, id] = key as [string, string, string, number, string];
          const restMs = restUntilMs(id);
          if (restMs !== null) nextDueMs = Math.min(nextDueMs, restMs);
          else if (dueMs <= nowMs && found.length < limit) found.push({ id, dueMs });
          else {
            nextDueMs = Math.min(nextDueMs, dueMs);
            break reading;
          }
        }
      }
      this.ready.push(...found);
      this.wake(nextDueMs);
    } catch (error) {
      this.wake(nowMs + READ_AGAIN_MS);
      throw error;
    } finally {
      this.reading = false;
    }
  }
}
