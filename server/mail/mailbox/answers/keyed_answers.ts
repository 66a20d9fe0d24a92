/**
 * Answers under Idempotency-Keys of requests that send (docs/mail.md, "Sending once"). Those that are too
 * large for a row are blobs. Each counts in its org's storage until it goes.
 */
import { defineRow } from "../../../base/storage/rows/row_key.ts";
import type { BlobRef, Blobs } from "../../../base/blobs/blobs.ts";
import { countOut, countStorage, storageKey } from "../../../base/blobs/stored_bytes.ts";
import { RelayError } from "../../../base/errors.ts";
import { JSON_HEADERS, NO_STORE } from "../../../base/http/answers/answer.ts";
import { answerWhole } from "../../../base/http/answers/large_answer.ts";
import { hashScope, requireIdempotencyKey } from "../../../base/idempotency/idempotency_key.ts";
import {
  ANSWER_KEPT_MS,
  ANSWER_PART,
  type KeyedCommit,
  KeyedRequests,
  type KeyUse,
} from "../../../base/idempotency/keyed_requests.ts";
import type { EndedUse, RepetitionKind } from "../../../base/idempotency/repetition_sweep.ts";
import type { GroupCommit } from "../../../base/storage/commits/group_commit.ts";
import type { Transaction } from "../../../base/storage/commits/job.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { RecordKey } from "../../../base/storage/commits/record_key.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../../../base/storage/rows/store.ts";
import { CLOCK_SKEW_MS } from "../../../base/time/clock_skew.ts";
import type { MailCaller } from "../../access/authenticate_key.ts";
import type { KeyedRequest } from "../../access/mail_route.ts";
import type { WrittenBlobs } from "../../core/written_blobs.ts";
import { MAIL_KEYS, type StoredAnswer, useKey } from "../../records/stored_answer.ts";

export interface KeyedAnswersServices {
  commits: Pick<GroupCommit, "submit">;
  records: Pick<RecordCache, "read" | "readRow">;
  store: Store;
  blobs: Pick<Blobs, "read" | "keep" | "drop">;
  written: Pick<WrittenBlobs, "write">;
}

/** What is kept of an answer: its bytes, or where they are too many, the blob that holds them. */
export type KeptAnswer =
  | { status: number; body: Uint8Array<ArrayBuffer> }
  | { status: number; blob: BlobRef };

/** An Idempotency-Key that a request came with. */
export type GivenKey = RecordKey<KeyUse>;

/** The answer to a request that sends. */
export interface KeyedAnswer {
  status: number;
  /** JSON. */
  body: Uint8Array<ArrayBuffer>;
  isReplayed: boolean;
}

/** What work does that a 202 under a key answers. */
export interface KeyedWork extends Pick<KeyedCommit<KeptAnswer>, "decide"> {
  /**
   * Writes a large answer, before the commit that it answers.
   * @param folder whose it is
   * @throws RelayError as WrittenBlobs.write()
   */
  prepare(
    folder: [orgId: string, inboxId: string],
    answer: Uint8Array<ArrayBuffer>,
  ): Promise<PreparedAnswer>;
}

export interface PreparedAnswer {
  /** Bytes that it takes of its org's storage. */
  sizeBytes: number;
  blob: BlobRef | null;
  /** In the commit. @returns what the message or draft has to know of it */
  keep(transaction: Transaction): StoredAnswer;
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
/** An answer up to this size stands in a row of the store. */
const ROW_ANSWER_BYTES = 32 * 1024;
/** For how long an answer is in the store. */
const STORED_MS = ANSWER_KEPT_MS + EXPIRY_MARGIN_MS;

export class KeyedAnswers implements RepetitionKind {
  readonly name = MAIL_KEYS.name;
  readonly #requests: KeyedRequests<KeptAnswer>;

  constructor(private readonly services: KeyedAnswersServices) {
    const { commits } = services;
    this.#requests = new KeyedRequests({
      ...services,
      uses: MAIL_KEYS,
      reserve: { commits, inProgress },
    });
  }

  /**
   * Does work once under a key; without a key it just does it.
   * @param fingerprint of the body, where there is a key
   * @throws RelayError `idempotency_key_reused`, `idempotency_in_progress`, and what the work throws
   */
  async once(
    key: GivenKey | null,
    fingerprint: string | null,
    work: (keyed?: KeyedWork) => Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<KeyedAnswer> {
    if (key === null) return { status: 202, body: await work(), isReplayed: false };
    const done = await this.#requests.once(
      key,
      () => fingerprint!,
      (commit) => work(this.#workOf(key, commit)),
    );
    if (!done.replayed) return { status: 202, body: done.answer, isReplayed: false };
    const kept = done.answer;
    const body = "blob" in kept ? await this.services.blobs.read(kept.blob, 0) : kept.body;
    return { status: kept.status, body, isReplayed: true };
  }

  #workOf(key: GivenKey, { decide, write }: KeyedCommit<KeptAnswer>): KeyedWork {
    const { blobs, written } = this.services;
    return {
      decide,
      async prepare(folder, answer) {
        const isRow = answer.length <= ROW_ANSWER_BYTES;
        const blob = isRow ? null : await written.write(folder, [answer]);
        const rowBytes = isRow ? answer.length : 0;
        return {
          sizeBytes: answer.length,
          blob,
          keep(transaction) {
            if (blob !== null) blobs.keep(transaction, blob);
            else countStorage(transaction, folder[0], rowBytes);
            const kept = blob === null ? { body: answer } : { blob };
            const held: HeldAnswer = { rowBytes, blob };
            write(transaction, { status: 202, ...kept }, held);
            const { nowMs, livedMs } = transaction;
            const scope = key.at(-1) as string;
            return { scope, dueMs: nowMs + STORED_MS, livedMs, ...held };
          },
        };
      },
    };
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
   * Answers of former versions, which named their end by the wall clock: the ones that are over, and ones
   * from a clock far ahead, once none of that version can stand any more.
   */
  async former(limit: number): Promise<EndedUse[]> {
    const { store } = this.services;
    if (store.lived() < STORED_MS) return [];
    const prefix = formerIndexKey.under();
    const nowMs = store.now();
    const over = { prefix, end: formerIndexKey.under(nowMs + 1) };
    const ahead = { prefix, start: formerIndexKey.under(nowMs + STORED_MS + CLOCK_SKEW_MS) };
    const rows: Deno.KvEntry<FormerIndexRow>[] = [
      ...await store.list<FormerIndexRow>(over, { limit }),
      ...await store.list<FormerIndexRow>(ahead, { limit }),
    ];
    return rows.slice(0, limit).map(({ key: index, value: { orgId, ...value } }) => {
      const held: HeldAnswer = "rowBytes" in value
        ? value
        : { rowBytes: 0, blob: value.blob, isUncounted: true };
      if (orgId === undefined) return { index, livedMs: 0, key: null, held };
      const key = useKey(orgId, index[2] as string);
      return { index, livedMs: 0, key, beside: [ANSWER_PART], held };
    });
  }
}

/** The key in the header of a request; null without one. @throws RelayError `invalid_json` */
export function readKeyHeader(request: KeyedRequest): GivenKey | null {
  const { c } = request;
  const value = c.req.raw.headers.get("idempotency-key");
  if (value === null) return null;
  const scope = { method: c.req.method, path: c.get("path") };
  return keyFor(request, scope, value, "the header Idempotency-Key");
}

/**
 * A key however it came.
 * @param where how messages name it
 * @throws RelayError `invalid_json`
 */
export function keyFor(
  { org, key }: MailCaller,
  { method, path }: { method: string; path: string },
  value: string,
  where: string,
): GivenKey {
  // A structured field of RFC 8941 stands in quotes, what most clients send does not.
  const bare = requireIdempotencyKey(value.replace(/^"(.*)"$/s, "$1"), where);
  return useKey(org.id, hashScope(key.id, method, path, bare));
}

/** Schedules the end of an answer, and notes what is to be counted out then. */
export function putAnswerEnd(transaction: Transaction, orgId: string, answer: StoredAnswer): void {
  const { scope, dueMs, livedMs, rowBytes, blob } = answer;
  const held: HeldAnswer = { rowBytes, blob };
  if (livedMs === undefined) {
    const row: FormerIndexRow = { v: 1, orgId, ...held };
    transaction.set(formerIndexKey(dueMs, scope), row);
  } else {
    MAIL_KEYS.putEnd(transaction, useKey(orgId, scope), { livedMs, beside: [ANSWER_PART], held });
  }
}

/** An answer as a response. */
export function giveKeyed({ status, body, isReplayed }: KeyedAnswer): Response {
  return answerWhole(body, {
    status,
    headers: {
      ...JSON_HEADERS,
      ...NO_STORE,
      ...(isReplayed ? { "Idempotent-Replayed": "true" } : {}),
    },
  });
}

function inProgress(retryAfterMs: number): RelayError {
  return new RelayError(
    "idempotency_in_progress",
    "a request under this Idempotency-Key is under way; repeat this one when it has ended",
    { retryAfterMs },
  );
}
