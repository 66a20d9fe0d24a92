import type { Turn } from "../../storage/job.ts";
import type { RecordKey } from "../../storage/record_key.ts";
import type { Outcome } from "./received_mail.ts";

/** Keeps what became of a message, in a commit that is made anyway. */
export interface OutcomeKeeper {
  readonly records: readonly RecordKey<unknown>[];
  /** As part of a plan: called again where the plan is. @param outcomes as they are if it is committed */
  stage(turn: Turn, outcomes: readonly Outcome[]): unknown;
  /** @param staged what stage() returned in the commit that was made */
  committed(staged: unknown): void;
}
