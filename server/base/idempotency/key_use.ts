/** What stands under an idempotency key, and what a request that comes with the key meets. */
import { RelayError } from "../errors.ts";
import type { RecordKey } from "../storage/commits/record_key.ts";
import type { Transaction } from "../storage/commits/group_commit.ts";
import { type Moment, stillStands } from "./repetition.ts";

/** How long an answer stands. */
export const ANSWER_KEPT_MS = 86_400_000;

/** What every record under a key says, whatever the answer is. */
export interface KeyUse {
  v: 1;
  /** SHA-256 of what was asked, base64url. */
  fingerprint: string;
  /** When the key was answered or reserved, in unix ms. */
  createdAtMs: number;
  /** What the store had lived then, in ms; none in those of former versions. */
  livedMs?: number;
}

/** What the commit of keyed work does for its key, beside its own reads and writes. */
export interface KeyedCommit<Answer> {
  /** Scope and key, as a record of the area. */
  readonly key: RecordKey<unknown>;
  /** Call it in the plan, before any refusal that an answer given before comes before. @throws to end the work */
  decide(transaction: Transaction): void;
  /**
   * Call it in the plan, with what the work is answered.
   * @param held what is to be known when the answer ends
   */
  write(transaction: Transaction, answer: Answer, held?: unknown): void;
}

/** What was answered under a key: now, or to the same request before. */
export type Keyed<Fresh, Kept> =
  | { replayed: false; answer: Fresh }
  | { replayed: true; answer: Kept };

/** Whether an answered use still stands. */
export function isAnswered({ createdAtMs, livedMs }: KeyUse, now: Moment): boolean {
  return stillStands({ atMs: createdAtMs, livedMs }, ANSWER_KEPT_MS, now);
}

/** @throws RelayError `idempotency_key_reused` for a use by another request */
export function requireSameRequest(use: KeyUse, fingerprint: string): void {
  if (use.fingerprint === fingerprint) return;
  throw new RelayError(
    "idempotency_key_reused",
    "this idempotency key was used for another request within the last 24 h; take a new key for a new message, or repeat the first request exactly",
  );
}

/** Thrown by decide(): ends work whose answer stands already. */
export class AnsweredBefore extends Error {
  constructor(readonly use: KeyUse) {
    super("answered before");
  }
}
