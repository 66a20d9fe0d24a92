/** What opening a store gives, whichever store it is. */
import type { Log } from "../base/log.ts";
import type { Backend } from "../base/storage/rows/backend.ts";

/** A database that is open, and what the process has to know of it. */
export interface OpenedStore {
  backend: Backend;
  /** What it is, for the start-up lines. */
  description: string;
  /** Free bytes on the store's disk; absent where it is not on a disk of ours. */
  measureFreeBytes?: () => Promise<number>;
  /** Called with each write that the store failed; absent where it is not on a disk of ours. */
  writeFailed?: (failure: unknown) => Promise<void>;
  /** Closes the database and gives the data folder free. */
  close(): Promise<void>;
}

/** What opening a store tells while it goes on. */
export interface StoreReports {
  /** One line for the operator, before the start-up lines. */
  tell: (line: string) => void;
  log: Log;
  /**
   * Called where another process may have the store that this one took for its own: what is written from
   * then on would be written over.
   */
  lost: (line: string) => void;
}
