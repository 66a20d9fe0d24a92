/** Answers that are too large for a row: blobs that stand for as long as an Idempotency-Key does. */
import type { BlobRef, Blobs } from "../../blobs/blobs.ts";
import { ANSWER_KEPT_MS } from "../../idempotency/key_use.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import type { Turn } from "../../storage/job.ts";
import { listRows } from "../../storage/list_rows.ts";
import { defineRecord } from "../../storage/record_key.ts";
import type { Store } from "../../storage/store.ts";
import { HOUR_MS } from "../../time_units.ts";

/** What is kept of an answer: its bytes, or where they are too many, the blob that holds them. */
export type KeptAnswer =
  | { status: number; body: Uint8Array<ArrayBuffer> }
  | { status: number; blob: BlobRef };

/** An answer up to this size stands in a row of the store. */
const ROW_ANSWER_BYTES = 32 * 1024;

/**
 * What the commit that a 202 answers keeps of it; large ones are written first.
 * @param folder whose it is, as Blobs.write() takes it
 */
export async function keepAnswer(
  answers: Pick<LargeAnswers, "write">,
  folder: readonly string[],
  answer: Uint8Array<ArrayBuffer>,
): Promise<KeptAnswer> {
  const status = 202;
  if (answer.length <= ROW_ANSWER_BYTES) return { status, body: answer };
  return { status, blob: await answers.write(folder, answer) };
}

export interface LargeAnswersServices {
  store: Store;
  commits: GroupCommit;
  blobs: Pick<Blobs, "write" | "keep" | "drop">;
}

/** ["mail-answer-sweep"]: written by each sweep, so that a commit that is repeated does nothing. */
const SWEEP = defineRecord<{ attempt: string }>(["mail-answer-sweep"], 0)();

/** ["mail-answer", dueMs, id of the blob]: {blob}, from when on it is not needed any more. */
interface AnswerRow {
  v: 1;
  blob: BlobRef;
}

const ROWS_A_COMMIT = 50;

export class LargeAnswers {
  constructor(private readonly services: LargeAnswersServices) {}

  /** Stores an answer before its commit. @throws RelayError `unavailable` */
  write(folder: readonly string[], answer: Uint8Array): Promise<BlobRef> {
    return this.services.blobs.write(folder, [answer]);
  }

  /** In the commit that it answers. */
  keep(turn: Turn, blob: BlobRef): void {
    this.services.blobs.keep(turn, blob);
    const dueMs = turn.nowMs + ANSWER_KEPT_MS + HOUR_MS;
    turn.set(["mail-answer", dueMs, blob.name.at(-1)!], { v: 1, blob } satisfies AnswerRow);
  }

  /** Drops what is not needed any more. */
  async sweep(): Promise<void> {
    const { store: { kv, now }, commits, blobs } = this.services;
    for (;;) {
      const selector = { prefix: ["mail-answer"], end: ["mail-answer", now() + 1] };
      const rows = await listRows<AnswerRow>(kv, selector, { limit: ROWS_A_COMMIT });
      if (rows.length === 0) return;
      await commits.submit<void>({
        records: [SWEEP],
        sizeBytes: 500 * rows.length,
        proof: SWEEP,
        plan(turn) {
          turn.putRecord(SWEEP, { attempt: turn.attempt });
          for (const { key, value } of rows) {
            turn.delete(key);
            blobs.drop(turn, value.blob);
          }
        },
      });
    }
  }
}
