/** What the operator's page shows of the relay; the composition root puts it together. */
import type { ErrorCode } from "../../base/errors.ts";
import type { ClockState } from "../../base/storage/rows/clock_watch.ts";

/** All rows of one kind in the outgoing queue. */
export interface OutgoingCount {
  kind: string;
  /** Rows that wait for their time. */
  waiting: number;
  /** When the first of them is due, Unix milliseconds; null for none. */
  firstDueMs: number | null;
}

export interface GivenUp {
  kind: string;
  diedAtMs: number;
  attempts: number;
  reason: string;
}

export interface OutgoingStatus {
  counts: OutgoingCount[];
  /** Rows that a process delivers now. */
  leased: number;
  /** True where there are more rows than were counted. */
  isCut: boolean;
  /** The newest that were given up, newest first. */
  givenUp: GivenUp[];
}

export interface RelayStatus {
  /** What start-up printed. */
  startupLines(): readonly string[];
  clock(): ClockState;
  isDatabaseAlive(): Promise<boolean>;
  /** Null where the store is not on a disk of this machine, or the disk cannot be measured. */
  freeDiskBytes(): Promise<number | null>;
  minFreeDiskBytes: number;
  /** Names of the things that wait in this process, and how many. */
  queues(): readonly (readonly [name: string, count: number])[];
  refusals(): readonly { code: ErrorCode; count: number }[];
  /** The newest lines of the log, newest first; none holds a secret. */
  events(): readonly { atMs: number; event: string; fields: string }[];
  outgoing(): Promise<OutgoingStatus>;
  /** Ids of custody keys; ids reveal nothing of the keys. */
  custodyKeys: {
    encrypting: string | null;
    opening: readonly string[];
    missing: readonly string[];
  };
}
