/** How one kind of thing is delivered; the outgoing queue knows nothing else of it. */
import type { Turn } from "../storage/group_commit.ts";

/** One attempt, as its handler sees it. */
export interface OutgoingItem<P = unknown> {
  id: string;
  payload: P;
  queuedAtMs: number;
  /** This attempt included. */
  attempts: number;
  /** Aborts when the lease is lost or the relay stops: give up what is not handed over yet. */
  signal: AbortSignal;
  /**
   * Commits that the content may be handed over from now on: after it the end of this process, or
   * of its lease, leaves an unknown outcome that is never repeated. Call right before the first
   * byte of the content leaves.
   * @throws LeaseLost when another process has the row by now: nothing may be sent
   */
  commitData(): Promise<void>;
}

/** How an attempt ended. Reasons are words and reply codes, never an address or a text of others. */
export type AttemptOutcome<P = unknown> =
  /** The other side has it. */
  | { result: "done" }
  /** Nobody wants it any more. */
  | { result: "dropped"; reason: string }
  /** The other side certainly does not have it: once more, after a while. */
  | {
    result: "retry";
    reason: string;
    afterMs: number;
    payload?: P;
    /** True where no connection came about: no fault of what was to be delivered. */
    unreachable?: boolean;
  }
  /** The other side certainly does not have it, and will not take it. */
  | { result: "dead"; reason: string }
  /** Nobody can tell whether the other side has it: never repeated. */
  | { result: "unknown"; reason: string };

/** How a row left the outgoing queue for good. */
export type Ending = "done" | "dropped" | "dead" | "unknown";

export interface OutgoingHandler<P = unknown> {
  readonly kind: string;
  /** Attempts of this kind that one process makes at one time. */
  readonly concurrency: number;
  /** Of those, attempts for one destination: a slow one then leaves room. All unless given. */
  readonly perDestination?: number;
  /** Upper bound of a payload's size in the store, at most 50,000 bytes. */
  readonly payloadBytes: number;
  /** Makes one attempt. What it throws counts as a retry after a minute, if nothing was handed over. */
  attempt(item: OutgoingItem<P>): Promise<AttemptOutcome<P>>;
  /** Rows that change in the very commit that takes the row off the outgoing queue. */
  finish?(ending: Ending, payload: P, turn: Pick<Turn, "set" | "delete">): void;
}

/** The row is another process's: whatever this attempt still does must have no effect. */
export class LeaseLost extends Error {
  constructor() {
    super("the lease of an outgoing row was lost");
  }
}
