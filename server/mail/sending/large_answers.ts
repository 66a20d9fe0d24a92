/**
 * Answers that stand for as long as an Idempotency-Key does: those that are too large for a row are
 * blobs. Each counts in its org's storage until it goes.
 */
import type { BlobRef, Blobs } from "../../blobs/blobs.ts";
import { byOwners, countOut, countStorage, storageKey } from "../../blobs/stored_bytes.ts";
import { ANSWER_KEPT_MS, type KeyedCommit } from "../../idempotency/key_use.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import { Outdated, type Turn } from "../../storage/job.ts";
import { listRows } from "../../storage/list_rows.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import { defineRecord } from "../../storage/record_key.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../storage/store.ts";
import type { WrittenBlobs } from "../mailboxes/written_blobs.ts";
import type { StoredAnswer } from "../records/stored_answer.ts";

/** What is kept of an answer: its bytes, or where they are too many, the blob that holds them. */
export type KeptAnswer =
  | { status: number; body: Uint8Array<ArrayBuffer> }
  | { status: number; blob: BlobRef };

/** An answer up to this size stands in a row of the store. */
const ROW_ANSWER_BYTES = 32 * 1024;

/**
 * What the commit that a 202 answers keeps of it; large ones are written first.
 * @param folder whose it is
 * @throws RelayError as WrittenBlobs.write()
 */
export async function keepAnswer(
  answers: Pick<LargeAnswers, "write">,
  folder: [orgId: string, inboxId: string],
  answer: Uint8Array<ArrayBuffer>,
): Promise<KeptAnswer> {
  const status = 202;
  if (answer.length <= ROW_ANSWER_BYTES) return { status, body: answer };
  return { status, blob: await answers.write(folder, answer) };
}

/** Bytes that it takes of its org's storage. Pure. */
export function keptBytes(kept: KeptAnswer | null): number {
  if (kept === null) return 0;
  return "blob" in kept ? kept.blob.sections[0]!.sizeBytes : kept.body.length;
}

export interface LargeAnswersServices {
  store: Store;
  records: Pick<RecordCache, "read">;
  commits: GroupCommit;
  blobs: Pick<Blobs, "keep" | "drop">;
  written: Pick<WrittenBlobs, "write">;
}

/**
 * ["mail-answer-sweep"]: written by each commit of a sweep, so that one which is repeated, or rests on
 * rows read before another sweep, does nothing.
 */
const SWEEP = defineRecord<{ attempt: string }>(["mail-answer-sweep"], 0)();

/** ["mail-answer", dueMs, scope]: from when on nothing of it is left. */
export interface AnswerIndexRow extends Pick<StoredAnswer, "rowBytes"> {
  v: 1;
  orgId: string;
  blob: BlobRef | null;
}

/** Of a former version: neither counted, nor there for answers in rows. */
interface FormerIndexRow {
  v: 1;
  blob: BlobRef;
  orgId?: undefined;
}

type IndexEntry = Deno.KvEntry<AnswerIndexRow | FormerIndexRow>;

export const answerIndexKey = (
  { dueMs, scope }: Pick<StoredAnswer, "dueMs" | "scope">,
): Deno.KvKey => ["mail-answer", dueMs, scope];

const ROWS_A_COMMIT = 50;

export class LargeAnswers {
  constructor(private readonly services: LargeAnswersServices) {}

  /** Stores an answer before its commit. @throws RelayError as WrittenBlobs.write() */
  write(folder: [orgId: string, inboxId: string], answer: Uint8Array): Promise<BlobRef> {
    return this.services.written.write(folder, [answer]);
  }

  /**
   * In the commit that it answers, whose job names the org's record of storage.
   * @returns what the message or draft has to know of it
   */
  keep(
    turn: Turn,
    orgId: string,
    keyed: KeyedCommit<KeptAnswer>,
    kept: KeptAnswer,
  ): StoredAnswer {
    const blob = "blob" in kept ? kept.blob : null;
    const rowBytes = "blob" in kept ? 0 : kept.body.length;
    if (blob !== null) this.services.blobs.keep(turn, blob);
    else countStorage(turn, orgId, rowBytes);
    keyed.write(turn, kept);
    const scope = keyed.key.at(-1) as string;
    // Until the store has let go of the row.
    const stored = { scope, dueMs: turn.nowMs + ANSWER_KEPT_MS + EXPIRY_MARGIN_MS, rowBytes, blob };
    const index: AnswerIndexRow = { v: 1, orgId, rowBytes, blob };
    turn.set(answerIndexKey(stored), index);
    return stored;
  }

  /** Drops and counts out what is not needed any more. */
  async sweep(): Promise<void> {
    const { store: { kv, now }, records } = this.services;
    for (;;) {
      const last = (await records.read<{ attempt: string }>(SWEEP))?.attempt ?? null;
      const selector = { prefix: ["mail-answer"], end: ["mail-answer", now() + 1] };
      const rows: IndexEntry[] = await listRows(kv, selector, { limit: ROWS_A_COMMIT });
      if (rows.length === 0) return;
      const [some] = byOwners(rows, ({ value }) => value.orgId ?? "");
      await this.#sweepSome(some!, last).catch((error) => {
        if (!(error instanceof Outdated)) throw error; // another process was at it: read again
      });
    }
  }

  /** One commit. @throws Outdated */
  async #sweepSome(rows: readonly IndexEntry[], last: string | null): Promise<void> {
    const { commits, blobs } = this.services;
    const orgs = new Set(rows.flatMap(({ value: { orgId } }) => orgId ?? []));
    await commits.submit<void>({
      records: [SWEEP, ...[...orgs].map(storageKey)],
      sizeBytes: 500 * rows.length,
      proof: SWEEP,
      plan(turn) {
        if ((turn.record(SWEEP)?.attempt ?? null) !== last) throw new Outdated();
        turn.putRecord(SWEEP, { attempt: turn.attempt });
        for (const { key, value } of rows) {
          turn.delete(key);
          if (value.blob !== null) blobs.drop(turn, value.blob, value.orgId !== undefined);
          if (value.orgId !== undefined) countOut(turn, value.orgId, value.rowBytes);
        }
      },
    });
  }
}
