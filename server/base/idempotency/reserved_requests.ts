/**
 * Requests under one idempotency key, where the first one reserves the key before it begins and a
 * second one is refused while it runs, in any process. For work that takes long, and answers that
 * are large: an answer lies in a row beside the record, so that memory keeps uses alone.
 *
 * A reservation is leased: when its holder has died, the next request takes it over. Where one process
 * alone writes the store, a reservation by another is by one that has died, and is free at once. What is
 * right rests on neither: the commit of the work checks that the reservation is still its own.
 */
import { type RelayError, unavailable } from "../errors.ts";
import type { GroupCommit, Transaction } from "../storage/commits/group_commit.ts";
import { leaseRuns, type LeaseTiming } from "../storage/leases/lease.ts";
import { randomId } from "../storage/rows/random_id.ts";
import type { RecordCache } from "../storage/commits/record_cache.ts";
import type { RecordKey } from "../storage/commits/record_key.ts";
import { valueSizeBytes } from "../storage/rows/stored_size.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/rows/store.ts";
import {
  ANSWER_KEPT_MS,
  AnsweredBefore,
  isAnswered,
  type Keyed,
  type KeyedCommit,
  type KeyUse,
  requireSameRequest,
} from "./key_use.ts";
import { type Moment, momentOf, stageRepetition, timeLeftMs } from "./repetition.ts";

/** A use that is a reservation while `leasedUntilMs` is there, and answered without it. */
export interface ReservedUse extends KeyUse {
  /** The attempt that reserved the key: names its holder. */
  attempt?: string;
  /** From when on another request may take the reservation over, in unix ms. */
  leasedUntilMs?: number;
  /** The process that holds the reservation; none in those of former versions. */
  processId?: string;
  /** The same time by the monotonic clock of that process. */
  leasedUntilElapsedMs?: number;
}

/** A key's record and one more part: what was answered. */
interface AnswerRow<Answer> {
  v: 1;
  answer: Answer;
}

export interface ReservedRequestsOptions {
  commits: GroupCommit;
  records: Pick<RecordCache, "read" | "readRow">;
  store: Pick<Store, "exclusive" | "now" | "elapsed" | "lived" | "random">;
  /** The refusal of a request while one under its key is under way. */
  inProgress(retryAfterMs: number): RelayError;
}

/** What stands beside an answered use, as stageRepetition() takes it. */
export const ANSWER_BESIDE = [["answer"]] as const;

const LEASE_MS = 60_000;
/** Who is let in early by another clock is refused by the commit, and who waits is told the end. */
const LEASE: LeaseTiming = { leaseMs: LEASE_MS, clockSkewMs: 0 };
/** What one value of the store holds, with a margin, where a character counts two bytes. */
const MAX_ANSWER_BYTES = 65_000;

/** Over answers of plain data, as structured clones keep it. */
export class ReservedRequests<Answer> {
  /** Of this start of the process. */
  readonly #processId: string;

  constructor(private readonly options: ReservedRequestsOptions) {
    this.#processId = randomId(options.store);
  }

  /**
   * Does work once under a key. Whatever the work throws gives the key back.
   * @param key scope and key, as a record of the area
   * @param fingerprint SHA-256 of what is asked, base64url
   * @param work commits with what it is handed; its answer is plain data of at most 64 KB, such as {status, body as bytes}; larger ones lie elsewhere
   * @throws RelayError `idempotency_key_reused`, what inProgress() makes, `unavailable`
   */
  async once<T>(
    key: RecordKey<ReservedUse>,
    fingerprint: string,
    work: (keyed: KeyedCommit<Answer>) => Promise<T>,
  ): Promise<Keyed<T, Answer>> {
    let holder: string | undefined;
    try {
      holder = await this.#reserve(key, fingerprint);
      return { replayed: false, answer: await work(this.#keyed(key, fingerprint, holder)) };
    } catch (error) {
      if (error instanceof AnsweredBefore) return await this.#replay(key, error.use);
      // Where this fails too, the end of the lease gives the key back.
      if (holder !== undefined) await this.#release(key, holder).catch(() => {});
      throw error;
    }
  }

  /** @returns the attempt under which the key is reserved @throws AnsweredBefore, and as once() */
  async #reserve(key: RecordKey<ReservedUse>, fingerprint: string): Promise<string> {
    const { commits, records, store } = this.options;
    const stored = await records.read<ReservedUse>(key);
    if (stored !== null) this.#requireFree(stored, fingerprint, momentOf(store));
    return await commits.submit((transaction) => {
      const use = transaction.record(key);
      const { nowMs, livedMs, attempt } = transaction;
      if (use !== null) {
        this.#requireFree(use, fingerprint, transaction);
        transaction.delete(answerKey(key));
      }
      const reserved: ReservedUse = {
        v: 1,
        attempt,
        fingerprint,
        createdAtMs: nowMs,
        livedMs,
        leasedUntilMs: nowMs + LEASE_MS,
        processId: this.#processId,
        leasedUntilElapsedMs: store.elapsed() + LEASE_MS,
      };
      // Nothing rests on it but that nobody is let in needlessly: the store may let go of it.
      transaction.putRecord(key, reserved, LEASE_MS + EXPIRY_MARGIN_MS);
      return attempt;
    });
  }

  /** Another request is told so first: one that repeats it would be told nothing else either. */
  #requireFree(use: ReservedUse, fingerprint: string, now: Moment): void {
    if (use.leasedUntilMs === undefined) {
      if (!isAnswered(use, now)) return;
      requireSameRequest(use, fingerprint);
      throw new AnsweredBefore(use);
    }
    const { exclusive, elapsed } = this.options.store;
    const isOwn = use.processId === this.#processId;
    if (exclusive && !isOwn) return;
    const [untilMs, nowMs] = isOwn
      ? [use.leasedUntilElapsedMs!, elapsed()]
      : [use.leasedUntilMs, now.nowMs];
    if (!leaseRuns(untilMs, LEASE, nowMs)) return;
    requireSameRequest(use, fingerprint);
    throw this.options.inProgress(Math.ceil(untilMs - nowMs));
  }

  #keyed(key: RecordKey<ReservedUse>, fingerprint: string, holder: string): KeyedCommit<Answer> {
    return {
      key,
      decide: (transaction) => {
        const use = transaction.record(key);
        if (isHeldBy(use, holder)) return;
        // Taken over after its lease had ended.
        if (use !== null) this.#requireFree(use, fingerprint, transaction);
        throw this.options.inProgress(LEASE_MS);
      },
      write(transaction, answer, held) {
        const { nowMs, livedMs } = transaction;
        transaction.putRecord(key, { v: 1, fingerprint, createdAtMs: nowMs, livedMs });
        putAnswer(transaction, key, answer);
        stageRepetition(transaction, key, ANSWER_KEPT_MS, { beside: ANSWER_BESIDE, held });
      },
    };
  }

  async #replay(key: RecordKey<ReservedUse>, use: KeyUse): Promise<Keyed<never, Answer>> {
    const { records, store } = this.options;
    const row = await records.readRow<AnswerRow<Answer>>(answerKey(key));
    if (row === null) {
      const { createdAtMs: atMs, livedMs } = use;
      throw answerLost(timeLeftMs({ atMs, livedMs }, ANSWER_KEPT_MS, momentOf(store)));
    }
    return { replayed: true, answer: row.answer };
  }

  async #release(key: RecordKey<ReservedUse>, holder: string): Promise<void> {
    await this.options.commits.submit<void>({
      whateverTheClock: true,
      plan(transaction) {
        if (isHeldBy(transaction.record(key), holder)) transaction.putRecord(key, null);
      },
    });
  }
}

/** Writes what a repetition under a key is answered, or replaces it; the use of the key stays. */
export function putAnswer<Answer>(
  transaction: Transaction,
  key: RecordKey<ReservedUse>,
  answer: Answer,
): void {
  const row: AnswerRow<Answer> = { v: 1, answer };
  if (valueSizeBytes(row) > MAX_ANSWER_BYTES) {
    throw new RangeError("the answer to be kept is larger than a value of the store");
  }
  transaction.set(answerKey(key), row);
}

const answerKey = (key: RecordKey<ReservedUse>): Deno.KvKey => [...key, ...ANSWER_BESIDE[0]];

/** Former versions left it to the store when a use and its answer go: one of them may be gone alone. */
function answerLost(leftMs: number): RelayError {
  return unavailable(
    "a request under this idempotency key was answered, and its answer is not in the store any more: nothing is " +
      "done again under it; see what became of it, and take a new key for what is still to be done",
    Math.max(1, Math.ceil(leftMs)),
  );
}

function isHeldBy(use: ReservedUse | null, holder: string): boolean {
  return use?.leasedUntilMs !== undefined && use.attempt === holder;
}
