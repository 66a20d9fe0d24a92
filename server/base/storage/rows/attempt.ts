/**
 * Tells whether a commit was stored whose answer did not come. Over a network a commit may be called
 * failed that was stored, then or a little later. So it writes a row that no other commit writes.
 */
import type { Write } from "./backend.ts";
import { defineRow } from "./row_key.ts";

/** How long the row stays: its process asks at once or not at all. */
const ATTEMPT_LIFE_MS = 3_600_000;

/** One try to commit something. */
export interface Attempt {
  /** Random, and no other attempt's. */
  readonly attempt: string;
  /** The unix ms that it was decided by. */
  readonly nowMs: number;
}

export const attemptKey = defineRow<[attempt: string]>(["attempt"], 1, {
  holds: "stands once what the attempt of a commit on a shared store was to store is stored",
  expires: "1 h",
});

export function attemptRow(attempt: string): Write {
  return { kind: "set", key: attemptKey(attempt), value: 1, expireInMs: ATTEMPT_LIFE_MS };
}
