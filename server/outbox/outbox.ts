/**
 * The one leased outbox: whatever leaves the relay by itself is a row with a due time, leased by
 * compare-and-set for an attempt, and put back, taken off or given up after it.
 *
 * Due times are wall-clock times in the store, found by a tick each second (a moved clock moves
 * everything) and, where nothing runs between requests, by a cron each minute. The row of a lease
 * stands in the same index at the time the lease is over, so that what a dead process held is found
 * like everything else: before the data marker it is attempted again, after it the outcome is
 * unknown and nothing is repeated.
 */
import type { Log } from "../deps.ts";
import { describeFailure } from "../http/describe_failure.ts";
import type { Store } from "../storage/store.ts";
import { freeLeases, HeldRow, type LeaseTiming } from "./held_row.ts";
import {
  type AttemptOutcome,
  type Ending,
  LeaseLost,
  type OutgoingHandler,
} from "./outgoing_handler.ts";
import { DEAD_KEPT_MS, deadKey, type DeadRow, type DueRow } from "./outgoing_row.ts";

export const LEASE_MS = 60_000;
const CLOCK_SKEW_MS = 5_000;
const TICK_MS = 1_000;
/** A shared store is looked at this often, for rows whose process has died. */
const SHARED_LOOK_MS = 5_000;
/** Wait after an attempt that failed in a way its handler did not foresee. */
const UNFORESEEN_RETRY_MS = 60_000;
/** Rows of busy kinds that one look passes over before it leaves the rest to the next. */
const MAX_PASSED_OVER = 1_000;

export interface OutboxOptions {
  store: Store;
  log: Log;
  timing?: Partial<LeaseTiming>;
  /** How often the clock is looked at, in ms; 1,000 unless given. */
  tickMs?: number;
}

interface Attempt {
  kind: string;
  abort: AbortController;
  /** True from when the content may leave: a stop then waits instead of giving up. */
  handedOver: boolean;
  ended: Promise<void>;
}

export class Outbox {
  readonly #store: Store;
  readonly #log: Log;
  readonly #timing: LeaseTiming;
  readonly #tickMs: number;
  // deno-lint-ignore no-explicit-any -- each handler alone knows its payload
  readonly #handlers = new Map<string, OutgoingHandler<any>>();
  readonly #attempts = new Map<string, Attempt>();
  /** Rows that the store would not change just now: left alone until this time, for TICK_MS even if the clock is set back. */
  readonly #resting = new Map<string, number>();
  #look: Promise<void> | null = null;
  /** No row is due before this time, as far as this process knows. */
  #nextDueMs = 0;
  #lookedAtMs = 0;
  #ticking: ReturnType<typeof setInterval> | undefined;
  #stopped = false;

  constructor({ store, log, timing, tickMs = TICK_MS }: OutboxOptions) {
    this.#tickMs = tickMs;
    this.#store = store;
    this.#log = log;
    this.#timing = {
      leaseMs: LEASE_MS,
      // An exclusive store knows one clock.
      clockSkewMs: store.exclusive ? 0 : CLOCK_SKEW_MS,
      ...timing,
    };
  }

  /** Names who delivers a kind. Rows of a kind without a handler wait. Call before start(). */
  register<P>(handler: OutgoingHandler<P>): void {
    this.#handlers.set(handler.kind, handler);
  }

  /** Begins to deliver. On an exclusive store what former processes held is free at once. */
  async start(): Promise<void> {
    if (this.#handlers.size === 0) return;
    if (this.#store.exclusive) await freeLeases(this.#store);
    this.#ticking = setInterval(() => {
      if (this.#mayBeDue()) this.#startDue().catch((error) => this.#logFailure(error));
    }, this.#tickMs);
    Deno.unrefTimer(this.#ticking);
  }

  /** Tells that a row with this due time was committed. */
  wake(dueMs: number): void {
    this.#nextDueMs = Math.min(this.#nextDueMs, dueMs);
  }

  /** Attempts everything that is due and waits until nothing due is left. */
  async run(): Promise<void> {
    if (this.#handlers.size === 0) return;
    for (;;) {
      if (this.#stopped) return;
      await this.#startDue();
      if (this.#attempts.size === 0) return;
      await Promise.race([...this.#attempts.values()].map(({ ended }) => ended));
    }
  }

  /** Begins nothing more and gives up what is not handed over yet. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#ticking);
    for (const { abort, handedOver } of this.#attempts.values()) if (!handedOver) abort.abort();
  }

  /** Waits, a little, for what was handed over; what is left is settled by the next start. */
  async close(graceMs = 500): Promise<void> {
    this.stop();
    await this.#look?.catch(() => {});
    let timer: ReturnType<typeof setTimeout> | undefined;
    const grace = new Promise<void>((resolve) => timer = setTimeout(resolve, graceMs));
    const ended = Promise.all([...this.#attempts.values()].map(({ ended }) => ended));
    await Promise.race([ended, grace]);
    clearTimeout(timer);
    for (const { abort } of this.#attempts.values()) abort.abort();
  }

  #mayBeDue(): boolean {
    const nowMs = this.#store.now();
    if (nowMs >= this.#nextDueMs) return true;
    // Another process's rows are found by looking; a clock set back makes every hint worthless.
    return nowMs < this.#lookedAtMs ||
      (!this.#store.exclusive && nowMs >= this.#lookedAtMs + SHARED_LOOK_MS);
  }

  /** Starts an attempt for each due row as far as its kind has room. Callers share one look. */
  #startDue(): Promise<void> {
    return this.#look ??= this.#lookForDue().finally(() => this.#look = null);
  }

  async #lookForDue(): Promise<void> {
    const nowMs = this.#store.now();
    this.#lookedAtMs = nowMs;
    this.#nextDueMs = Infinity;
    for (const [id, untilMs] of this.#resting) {
      if (nowMs >= untilMs || nowMs < untilMs - TICK_MS) this.#resting.delete(id);
    }
    try {
      let passedOver = 0;
      const index = this.#store.kv.list<DueRow>({ prefix: ["outgoing-due"] }, { batchSize: 100 });
      for await (const { key, value } of index) {
        const [, dueMs, id] = key as [string, number, string];
        if (dueMs > nowMs) {
          this.wake(dueMs);
          break;
        }
        if (this.#stopped) return;
        const handler = this.#handlers.get(value.kind);
        if (handler === undefined || this.#attempts.has(id)) continue;
        const restUntilMs = this.#resting.get(id);
        if (restUntilMs !== undefined) {
          this.wake(restUntilMs);
          continue;
        }
        if (this.#running(value.kind) >= handler.concurrency) {
          this.wake(nowMs);
          if (++passedOver >= MAX_PASSED_OVER) break;
          continue;
        }
        this.#begin(id, dueMs, handler);
      }
    } catch (error) {
      this.wake(nowMs);
      throw error;
    }
  }

  #running(kind: string): number {
    let running = 0;
    for (const attempt of this.#attempts.values()) if (attempt.kind === kind) running++;
    return running;
  }

  #begin(id: string, dueMs: number, handler: OutgoingHandler): void {
    const attempt: Attempt = {
      kind: handler.kind,
      abort: new AbortController(),
      handedOver: false,
      ended: Promise.resolve(),
    };
    this.#attempts.set(id, attempt);
    attempt.ended = this.#deliver(id, dueMs, handler, attempt)
      .catch((error) => {
        // A row that is leased is found again when its lease is over; one that is not, soon.
        if (!(error instanceof LeaseLost)) this.#logFailure(error);
        const restUntilMs = this.#store.now() + TICK_MS;
        this.#resting.set(id, restUntilMs);
        this.wake(restUntilMs);
      })
      .finally(() => this.#attempts.delete(id));
  }

  async #deliver(
    id: string,
    dueMs: number,
    handler: OutgoingHandler,
    attempt: Attempt,
  ): Promise<void> {
    const held = await HeldRow.lease(id, dueMs, this.#store, this.#timing);
    if (held === null) return;
    this.wake(held.row.dueMs);
    if (held.mayBeHandedOver()) {
      await this.#end(
        held,
        handler,
        "unknown",
        "unknown: the relay ended while it was handed over",
      );
      return;
    }
    const renewal = setInterval(() => {
      held.renew().catch((error) => {
        if (error instanceof LeaseLost) attempt.abort.abort();
      });
    }, this.#timing.leaseMs / 3);
    Deno.unrefTimer(renewal);
    let outcome: AttemptOutcome;
    try {
      outcome = await handler.attempt({
        id,
        payload: held.row.payload,
        queuedAtMs: held.row.queuedAtMs,
        attempts: held.row.attempts,
        signal: attempt.abort.signal,
        commitData: async () => {
          attempt.abort.signal.throwIfAborted();
          attempt.handedOver = true;
          await held.markData();
        },
      });
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      this.#logFailure(error);
      outcome = held.mayBeHandedOver()
        ? { result: "unknown", reason: "unknown: the attempt failed while it was handed over" }
        : { result: "retry", reason: "the attempt failed", afterMs: UNFORESEEN_RETRY_MS };
    } finally {
      clearInterval(renewal);
    }
    await this.#settle(held, handler, outcome);
  }

  async #settle(held: HeldRow, handler: OutgoingHandler, outcome: AttemptOutcome): Promise<void> {
    const { row } = held;
    if (outcome.result === "done") return await this.#end(held, handler, "done", "");
    if (outcome.result !== "retry") {
      return await this.#end(held, handler, outcome.result, outcome.reason);
    }
    const nowMs = this.#store.now();
    if (this.#stopped) {
      // Not the other side's fault: the next start attempts it at once, and it does not count.
      const attempts = row.attempts - 1;
      return await held.release({ dueMs: nowMs, attempts, lastReason: row.lastReason });
    }
    const { reason: lastReason, afterMs, payload = row.payload } = outcome;
    const dueMs = nowMs + Math.max(1, Math.ceil(afterMs));
    await held.release({ dueMs, lastReason, payload });
    this.wake(dueMs);
    this.#log("outgoing_retry", {
      kind: row.kind,
      id: held.id,
      attempts: row.attempts,
      reason: lastReason,
      after_ms: dueMs - nowMs,
    });
  }

  async #end(
    held: HeldRow,
    handler: OutgoingHandler,
    ending: Ending,
    reason: string,
  ): Promise<void> {
    const { kind, payload, queuedAtMs, attempts } = held.row;
    const givenUp = ending === "dead" || ending === "unknown";
    const diedAtMs = this.#store.now();
    await held.remove((operation) => {
      if (givenUp) {
        const dead: DeadRow = { v: 1, kind, payload, queuedAtMs, diedAtMs, attempts, reason };
        operation.set(deadKey(diedAtMs, held.id), dead, { expireIn: DEAD_KEPT_MS });
      }
      handler.finish?.(ending, payload, operation);
    });
    if (givenUp) this.#log("outgoing_given_up", { kind, id: held.id, attempts, ending, reason });
  }

  #logFailure(error: unknown): void {
    this.#log("outgoing_failed", describeFailure(error));
  }
}
