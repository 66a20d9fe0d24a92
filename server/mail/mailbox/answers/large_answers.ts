/**
 * Answers that stand for as long as an Idempotency-Key does: those that are too large for a row are
 * blobs. Each counts in its org's storage until it goes.
 */
import type { BlobRef, Blobs } from "../../../base/blobs/blobs.ts";
import { countOut, countStorage, storageKey } from "../../../base/blobs/stored_bytes.ts";
import { CLOCK_SKEW_MS } from "../../../base/time/clock_skew.ts";
import { ANSWER_KEPT_MS, type KeyedCommit } from "../../../base/idempotency/key_use.ts";
import { stageRepetition } from "../../../base/idempotency/repetition.ts";
import type { EndedUse, RepetitionKind } from "../../../base/idempotency/repetition_sweep.ts";
import { ANSWER_BESIDE } from "../../../base/idempotency/reserved_requests.ts";
import type { Transaction } from "../../../base/storage/commits/job.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../../base/storage/rows/store.ts";
import type { WrittenBlobs } from "../../core/written_blobs.ts";
import { MAIL_KEYS, type StoredAnswer, useKey } from "../../records/stored_answer.ts";
import { defineRow } from "../../../base/storage/rows/row_key.ts";

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
  blobs: Pick<Blobs, "keep" | "drop">;
  written: Pick<WrittenBlobs, "write">;
}

/** What its row in the index says of an answer. */
type HeldAnswer = Pick<StoredAnswer, "rowBytes" | "blob"> & {
  /** Whether a version kept it that did not count it. */
  isUncounted?: true;
};

/** The first ones counted nothing, and named no org. */
type FormerIndexRow =
  | { v: 1; orgId: string; rowBytes: number; blob: BlobRef | null }
  | { v: 1; orgId?: undefined; blob: BlobRef };

const formerIndexKey = defineRow<[dueMs: number, scope: string]>(["mail-answer"], 2, {
  holds: "of former versions: what a stored answer takes, by the wall clock",
  expires: "until swept",
});

/** For how long an answer is in the store. */
const STORED_MS = ANSWER_KEPT_MS + EXPIRY_MARGIN_MS;

export class LargeAnswers implements RepetitionKind {
  readonly name = MAIL_KEYS;

  constructor(private readonly services: LargeAnswersServices) {}

  /** Stores an answer before its commit. @throws RelayError as WrittenBlobs.write() */
  write(folder: [orgId: string, inboxId: string], answer: Uint8Array): Promise<BlobRef> {
    return this.services.written.write(folder, [answer]);
  }

  /**
   * In the commit that it answers.
   * @returns what the message or draft has to know of it
   */
  keep(
    transaction: Transaction,
    orgId: string,
    keyed: KeyedCommit<KeptAnswer>,
    kept: KeptAnswer,
  ): StoredAnswer {
    const blob = "blob" in kept ? kept.blob : null;
    const rowBytes = "blob" in kept ? 0 : kept.body.length;
    if (blob !== null) this.services.blobs.keep(transaction, blob);
    else countStorage(transaction, orgId, rowBytes);
    keyed.write(transaction, kept, { rowBytes, blob } satisfies HeldAnswer);
    const { nowMs, livedMs } = transaction;
    const scope = keyed.key.at(-1) as string;
    return { scope, dueMs: nowMs + STORED_MS, livedMs, rowBytes, blob };
  }

  /** Drops and counts out what an answer took. */
  readonly extraWrites = {
    records: ({ key }: EndedUse) => key === null ? [] : [storageKey(key[1] as string)],
    plan: (transaction: Transaction, { key, held }: EndedUse) => {
      const { rowBytes, blob, isUncounted } = held as HeldAnswer;
      if (blob !== null) this.services.blobs.drop(transaction, blob, isUncounted !== true);
      if (key !== null) countOut(transaction, key[1] as string, rowBytes);
    },
  };

  /**
   * Answers of former versions, which named their end by the wall clock: those that are over, and those of
   * a clock that was far ahead, once none of that version can stand any more.
   */
  async former(limit: number): Promise<EndedUse[]> {
    const { store } = this.services;
    const { now, lived } = store;
    if (lived() < STORED_MS) return [];
    const prefix = formerIndexKey.under();
    const rows: Deno.KvEntry<FormerIndexRow>[] = [
      ...await store.list<FormerIndexRow>({ prefix, end: formerIndexKey.under(now() + 1) }, {
        limit,
      }),
      ...await store.list<FormerIndexRow>({
        prefix,
        start: formerIndexKey.under(now() + STORED_MS + CLOCK_SKEW_MS),
      }, { limit }),
    ];
    return rows.slice(0, limit).map(({ key, value }) => ({
      index: key,
      livedMs: 0,
      ...(value.orgId === undefined
        ? { key: null, held: { rowBytes: 0, blob: value.blob, isUncounted: true } }
        : {
          key: useKey(value.orgId, key[2] as string),
          beside: ANSWER_BESIDE,
          held: { rowBytes: value.rowBytes, blob: value.blob },
        }),
    }));
  }
}

/** Has an answer end when it was to end, and counts by then what is left of it. */
export function stageAnswerEnd(
  transaction: Transaction,
  orgId: string,
  answer: StoredAnswer,
): void {
  const { scope, livedMs, rowBytes, blob } = answer;
  const held: HeldAnswer = { rowBytes, blob };
  if (livedMs === undefined) {
    transaction.set(
      formerIndexKey(answer.dueMs, answer.scope),
      { v: 1, orgId, ...held } satisfies FormerIndexRow,
    );
  } else {
    const key = useKey(orgId, scope);
    stageRepetition(transaction, key, ANSWER_KEPT_MS, { livedMs, beside: ANSWER_BESIDE, held });
  }
}
