/** Makes one attempt of one row: leases it, has its handler attempt it, and stores the outcome. */
import type { Log } from "../log.ts";
import { describeFailure } from "../describe_failure.ts";
import { HeldRow, type HeldRowServices } from "./held_row.ts";
import type { DueEntry, Lane } from "./lane.ts";
import {
  type AttemptOutcome,
  type Ending,
  LeaseLost,
  type OutgoingHandler,
} from "./outgoing_handler.ts";
import { DEAD_KEPT_MS, deadKey, type DeadLetter, laneKey } from "./outgoing_row.ts";

/** Wait after an attempt that failed in a way its handler does not report. */
const UNFORESEEN_RETRY_MS = 60_000;
/**
 * Wait after an attempt for which there was no connection: while there is none, circuit_breaker.ts holds up what is
 * due, and once there is one again nothing is to wait any longer than it takes to begin.
 */
const NO_CONNECTION_RETRY_MS = 8_000;
/** Outcome of an attempt that was not begun yet when the relay stopped or the destination was lost. */
const NOT_BEGUN = { result: "retry", reason: "not begun", afterMs: 0 } as const;

export interface Attempt {
  abort: AbortController;
  /**
   * Gives back the slot that the attempt has held from its beginning, if it took one; its outcome is stored
   * without.
   * @param tells whether what it took says something of its parties
   */
  giveSlotBack(tells: boolean): void;
  /** Begun although the destination was lost: the one trial that is allowed meanwhile. */
  isTrial: boolean;
  /** True from when the content may leave: a stop then waits for the attempt. */
  handedOver: boolean;
  ended: Promise<void>;
}

export interface Delivery extends HeldRowServices {
  log: Log;
  /** Whether nothing more may begin. */
  isStopped(): boolean;
}

/**
 * Attempts a row of a lane, unless it is gone or another process holds it by now.
 * @throws LeaseLost, and what the store throws: the row is then found by the end of its lease
 */
export async function deliverRow(
  delivery: Delivery,
  lane: Lane,
  { id, dueMs }: DueEntry,
  handler: OutgoingHandler,
  attempt: Attempt,
): Promise<void> {
  const indexKey = laneKey(lane.kind, lane.destination, dueMs, id);
  const held = await HeldRow.lease(indexKey, delivery, handler);
  if (held === "gone") return;
  if (held === "early") return lane.wake(dueMs);
  if (held.mayBeHandedOver()) {
    const reason = "unknown: the relay ended while it was handed over";
    return await end(delivery, held, "unknown", reason);
  }
  const outcome = await runAttempt(delivery, lane, held, handler, attempt);
  await storeOutcome(delivery, lane, held, outcome);
}

/**
 * Lets the handler attempt the row.
 * @returns null when the handler fails in a way it does not report
 */
async function runAttempt(
  { log, store, timing }: Delivery,
  { breaker }: Lane,
  held: HeldRow,
  handler: OutgoingHandler,
  attempt: Attempt,
): Promise<AttemptOutcome | null> {
  const { signal } = attempt.abort;
  const renewal = setInterval(() => {
    held.renew().catch((error) => {
      if (error instanceof LeaseLost) attempt.abort.abort();
    });
  }, timing.leaseMs / 3);
  Deno.unrefTimer(renewal);
  let outcome: AttemptOutcome | null = null;
  try {
    if (signal.aborted || breaker.isOpen && !attempt.isTrial) return outcome = NOT_BEGUN;
    const { payload, queuedAtMs, livedMs: queuedLivedMs, attempts } = held.row;
    const livedMs = queuedLivedMs === undefined ? null : store.lived() - queuedLivedMs;
    return outcome = await handler.attempt({
      id: held.id,
      payload,
      queuedAtMs,
      livedMs,
      attempts,
      signal,
      commitData: async () => {
        signal.throwIfAborted();
        attempt.handedOver = true;
        await held.markData();
        breaker.reached();
      },
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    log("outgoing_failed", describeFailure(error));
    return null;
  } finally {
    clearInterval(renewal);
    attempt.giveSlotBack(outcome !== null && isMade(outcome));
  }
}

/** Whether the other side was reached, and so what an attempt took says something of it. */
function isMade(outcome: AttemptOutcome): boolean {
  if (outcome.result === "retry") return !outcome.unreachable && !outcome.untried;
  return outcome.result !== "dropped" && !(outcome.result === "dead" && outcome.untried);
}

async function storeOutcome(
  delivery: Delivery,
  lane: Lane,
  held: HeldRow,
  outcome: AttemptOutcome | null,
): Promise<void> {
  const { breaker } = lane;
  if (outcome === null) {
    breaker.untried();
    if (held.mayBeHandedOver()) {
      const reason = "unknown: the attempt failed while it was handed over";
      return await end(delivery, held, "unknown", reason);
    }
    const afterMs = UNFORESEEN_RETRY_MS;
    const retry = { result: "retry", reason: "the attempt failed", afterMs } as const;
    return await putBack(delivery, lane, held, retry, true);
  }
  if (outcome === NOT_BEGUN) return await putBack(delivery, lane, held, outcome, false);
  const { result, note } = outcome;
  if (result === "retry") {
    // An attempt does not count while the destination's breaker is open, and a missing connection counts
    // once: later waits would be as long as for mail that was refused again and again.
    const { untried, unreachable, deferred } = outcome;
    const isRepeated = !deferred && held.row.attempts > 1;
    const charged = !untried && !(unreachable && (breaker.isOpen || isRepeated));
    if (untried) breaker.untried();
    else if (!unreachable) breaker.reached();
    else if (!delivery.isStopped()) breaker.failed(delivery.store.now());
    return await putBack(delivery, lane, held, outcome, charged);
  }
  if (result === "dropped" || result === "dead" && outcome.untried) breaker.untried();
  else breaker.reached();
  await end(delivery, held, result, result === "done" ? "" : outcome.reason, note);
}

/** @param charged whether the attempt counts */
async function putBack(
  { log, store, isStopped }: Delivery,
  lane: Lane,
  held: HeldRow,
  outcome: AttemptOutcome & { result: "retry" },
  charged: boolean,
): Promise<void> {
  const { row } = held;
  const nowMs = store.now();
  if (isStopped() || outcome === NOT_BEGUN) {
    // The row did nothing wrong: it keeps its place, is attempted as soon as possible, and the
    // attempt is not counted.
    const attempts = row.attempts - 1;
    await held.release({ dueMs: nowMs, dueSetAtMs: nowMs, attempts, lastReason: row.lastReason });
    return lane.wake(nowMs);
  }
  const { reason: lastReason, payload = row.payload, endsAtMs = row.endsAtMs, note } = outcome;
  const attempts = charged ? row.attempts : row.attempts - 1;
  const afterMs = outcome.unreachable && !outcome.deferred
    ? Math.min(outcome.afterMs, NO_CONNECTION_RETRY_MS)
    : outcome.afterMs;
  const dueMs = nowMs + Math.max(1, Math.ceil(afterMs));
  const ends = endsAtMs === undefined ? {} : { endsAtMs };
  await held.release(
    { dueMs, dueSetAtMs: nowMs, attempts, lastReason, payload, ...ends },
    { attempts, result: "retry", dueMs, note },
  );
  lane.wake(dueMs);
  const { kind } = row;
  log("outgoing_retry", {
    kind,
    id: held.id,
    attempts,
    reason: lastReason,
    after_ms: dueMs - nowMs,
  });
}

async function end(
  { log, store }: Delivery,
  held: HeldRow,
  ending: Ending,
  reason: string,
  note?: unknown,
): Promise<void> {
  const { kind, payload, queuedAtMs, attempts } = held.row;
  const givenUp = ending === "dead" || ending === "unknown";
  const diedAtMs = store.now();
  await held.remove((transaction) => {
    if (!givenUp) return;
    const dead: DeadLetter = { v: 1, kind, payload, queuedAtMs, diedAtMs, attempts, reason };
    transaction.set(deadKey(diedAtMs, held.id), dead, DEAD_KEPT_MS);
  }, { attempts, result: ending, dueMs: null, note });
  if (givenUp) log("outgoing_given_up", { kind, id: held.id, attempts, ending, reason });
}
