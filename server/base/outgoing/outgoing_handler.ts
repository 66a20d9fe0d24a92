/** How one kind of thing is delivered. The outgoing queue knows nothing else of it. */
import type { Reads, Transaction } from "../storage/commits/job.ts";
import type { Parties } from "./shares.ts";

/** One attempt, as its handler sees it. */
export interface OutgoingItem<P = unknown> {
  id: string;
  payload: P;
  queuedAtMs: number;
  /** For how long the store has lived since then, ms; null where its row does not say when it was queued. */
  livedMs: number | null;
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
export type AttemptOutcome<P = unknown> = AttemptResult<P> & {
  /** Passed on to extraWrites(). */
  note?: unknown;
};

type AttemptResult<P> =
  /** The other side has it, or has said what becomes of it. */
  | { result: "done" }
  /** Delivery is not wanted any more. */
  | { result: "dropped"; reason: string }
  /** The other side certainly does not have it: try again after a while. */
  | {
    result: "retry";
    reason: string;
    afterMs: number;
    payload?: P;
    /** Where that has changed: when the handler gives it up (OutgoingRow.endsAtMs). */
    endsAtMs?: number;
    /**
     * True when the mail was not begun, for want of a connection or of a login: the content did not cause
     * it.
     */
    unreachable?: boolean;
    /**
     * True when the other side itself said that it takes nothing now: its wait stands. Without any reply the
     * wait is for the connection alone.
     */
    deferred?: boolean;
    /** True when nothing was tried: the attempt does not count. */
    untried?: boolean;
  }
  /** The other side certainly does not have it, and will not take it. */
  | {
    result: "dead";
    reason: string;
    /** True when nothing was tried: whether the destination can be reached stays as it was. */
    untried?: boolean;
  }
  /** It is unknown whether the other side has it: never repeated. */
  | { result: "unknown"; reason: string };

/** How a row left the outgoing queue for good. */
export type Ending = "done" | "dropped" | "dead" | "unknown";

/** An outcome that is about to be stored. */
export interface PendingOutcome<P = unknown> {
  id: string;
  payload: P;
  /** Those that count. */
  attempts: number;
  result: Ending | "retry";
  /** When it is attempted again; null for what leaves the queue. */
  dueMs: number | null;
  /** What attempt() said of it; undefined where the queue found the outcome itself. */
  note: unknown;
}

/**
 * Plans what else changes in the commit that stores an outcome. Besides the row: a commit over KV Connect
 * checks ten records in all, one of them the writer slot.
 */
export type ExtraWrites = (transaction: Transaction) => void;

export interface OutgoingHandler<P = unknown> {
  readonly kind: string;
  /** How many attempts of this kind one process makes at the same time. */
  readonly concurrency: number;
  /**
   * Who shares the running attempts, by destination: slow parties leave room for the others
   * (shares.ts). Unless given, destinations take turns, and each may have all.
   */
  partiesOf?(destination: string): Parties;
  /**
   * Whether all destinations are behind the one next hop of mail, so that it is reached for all of them, and
   * for all other such kinds, or for none. False unless given.
   */
  readonly oneNextHop?: boolean;
  /** The longest wait that an attempt of it ends with, in ms: what is due later comes from a clock that was wrong. */
  readonly longestPauseMs: number;
  /**
   * For kinds whose sender may choose the first due time: how long before its end (OutgoingRow.endsAtMs) that
   * is. Unless given, things are due when they are queued.
   */
  readonly triedMs?: number;
  /**
   * Makes one attempt. If it throws before the content was handed over, the row is tried again
   * after a minute.
   */
  attempt(item: OutgoingItem<P>): Promise<AttemptOutcome<P>>;
  /**
   * Prepares what changes in the same commit that stores an outcome: it is stored with it or not at
   * all. Called again until the commit is made, as Job.prepare(). Not for attempts that a stop or a lost
   * destination kept from beginning.
   */
  extraWrites?(
    settling: PendingOutcome<P>,
    reads: Reads,
  ): Promise<ExtraWrites | null> | ExtraWrites | null;
  /**
   * Runs the preparation and the commit of an outcome, once what it would outdate has been committed.
   * They run at once unless given.
   */
  withLock?<T>(payload: P, work: () => Promise<T>): Promise<T>;
}

/** Another process has the row: nothing that this attempt still does may have an effect. */
export class LeaseLost extends Error {
  constructor() {
    super("the lease of an outgoing row was lost");
  }
}
