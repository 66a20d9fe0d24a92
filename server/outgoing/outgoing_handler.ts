/** How one kind of thing is delivered. The outgoing queue knows nothing else of it. */
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
   * Commits that the content may be handed over from now on. If this process, or its lease, ends
   * after that, the outcome is unknown and the attempt is never repeated. Call it right before the
   * first byte of the content leaves.
   * @throws LeaseLost when another process has the row by now: nothing may be sent
   */
  commitData(): Promise<void>;
}

/**
 * How an attempt ended. Reasons are words and reply codes, never an address or a text of others.
 */
export type AttemptOutcome<P = unknown> =
  /** The other side has it. */
  | { result: "done" }
  /** Delivery is not wanted any more. */
  | { result: "dropped"; reason: string }
  /** The other side certainly does not have it: try again after a while. */
  | {
    result: "retry";
    reason: string;
    afterMs: number;
    payload?: P;
    /** True when no connection was made: the content did not cause it. */
    unreachable?: boolean;
  }
  /** The other side certainly does not have it, and will not take it. */
  | { result: "dead"; reason: string }
  /** It is unknown whether the other side has it: never repeated. */
  | { result: "unknown"; reason: string };

/** How a row left the outgoing queue for good. */
export type Ending = "done" | "dropped" | "dead" | "unknown";

export interface OutgoingHandler<P = unknown> {
  readonly kind: string;
  /** How many attempts of this kind one process makes at one time. */
  readonly concurrency: number;
  /**
   * How many of those may go to one destination, so that a slow one leaves room. All unless given.
   */
  readonly perDestination?: number;
  /** Upper bound of a payload's size in the store, at most 50,000 bytes. */
  readonly payloadBytes: number;
  /**
   * Makes one attempt. If it throws before the content was handed over, the row is tried again
   * after a minute.
   */
  attempt(item: OutgoingItem<P>): Promise<AttemptOutcome<P>>;
  /** Changes other rows in the same commit that takes the row off the outgoing queue. */
  finish?(ending: Ending, payload: P, turn: Pick<Turn, "set" | "delete">): void;
}

/** Another process has the row: nothing that this attempt still does may have an effect. */
export class LeaseLost extends Error {
  constructor() {
    super("the lease of an outgoing row was lost");
  }
}
