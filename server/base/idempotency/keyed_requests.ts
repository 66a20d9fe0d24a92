/**
 * Requests under one idempotency key: work is done once, and who repeats the request within a day is
 * given its answer. What a second request meets while the first is under way, its area chooses:
 *
 * - It waits: in this process for its turn, in others by the version of the record that both commits
 *   write. Nothing is written before the work's own commit. For work that is short, and answers that are
 *   small: the answer lies in the record itself, which memory keeps.
 * - It is refused, in any process: the first one reserves the key before it begins. For work that takes
 *   long, and answers that are large: they lie in a row beside the record.
 *
 * A reservation is leased: when its holder has died, the next request takes it over. Where one process
 * alone writes the store, a reservation by another is by one that has died, and is free at once. What is
 * right rests on neither: the commit of the work checks that the reservation is still its own.
 */
import { Semaphore } from "../bounds/semaphore.ts";
import { RelayError } from "../errors.ts";
import type { GroupCommit, Transaction } from "../storage/commits/group_commit.ts";
import { type RecordCache, recordName } from "../storage/commits/record_cache.ts";
import type { RecordKey } from "../storage/commits/record_key.ts";
import { leaseRuns, type LeaseTiming } from "../storage/leases/lease.ts";
import { randomId } from "../storage/rows/random_id.ts";
import { EXPIRY_MARGIN_MS, type Store } from "../storage/rows/store.ts";
import { DAY_MS } from "../time/time_units.ts";
import { type Moment, momentOf, putBeside, Repetitions } from "./repetitions.ts";

/** A record under a key: a reservation while `leasedUntilMs` is there, and answered without it. */
export interface KeyUse {
  v: 1;
  /** SHA-256 of what was asked, base64url. */
  fingerprint: string;
  /** When the key was answered or reserved, in unix ms. */
  createdAtMs: number;
  /** What the store had lived then, in ms; former versions wrote none. */
  livedMs?: number;
  /** The attempt that reserved the key: names its holder. */
  attempt?: string;
  /** From when on another request may take the reservation over, in unix ms. */
  leasedUntilMs?: number;
  /** The process that holds the reservation; former versions wrote none. */
  processId?: string;
  /** The same time by the monotonic clock of that process. */
  leasedUntilElapsedMs?: number;
}

/** What the commit of keyed work does for its key, beside its own reads and writes. */
export interface KeyedCommit<Answer> {
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

export interface KeyedRequestsOptions {
  records: Pick<RecordCache, "read" | "readRow">;
  store: Pick<Store, "exclusive" | "now" | "elapsed" | "lived" | "random">;
  uses: Repetitions<KeyUse>;
  /** Where keys are reserved; without it, requests wait. */
  reserve?: {
    commits: Pick<GroupCommit, "submit">;
    /** The refusal of a request while one under its key is under way. */
    inProgress(retryAfterMs: number): RelayError;
  };
}

/** How long an answer stands. */
export const ANSWER_KEPT_MS = DAY_MS;
/** What the key of an answer's own row adds to the key of its use. */
export const ANSWER_PART = ["answer"] as const;

const LEASE_MS = 60_000;
/** A caller let in early by another clock is refused by the commit; callers who wait hear of the end. */
const LEASE: LeaseTiming = { leaseMs: LEASE_MS, clockSkewMs: 0 };

/** Thrown to end work whose answer stands already. */
class AnsweredBefore extends Error {
  constructor(readonly use: KeyUse) {
    super("answered before");
  }
}

/** @param name the first part of the keys of an area's records */
export function keyUses(name: string): Repetitions<KeyUse> {
  return new Repetitions({
    name,
    lifeMs: ANSWER_KEPT_MS,
    lost:
      "a request under this idempotency key was answered, and its answer is not in the store any more: " +
      "nothing is done again under it; see what became of it, and take a new key for what is still to be done",
  });
}

/** Writes what a repetition under a key is answered, or replaces it; the use of the key stays. */
export function putAnswer<Answer>(
  transaction: Transaction,
  key: RecordKey<KeyUse>,
  answer: Answer,
): void {
  putBeside(transaction, key, ANSWER_PART, { v: 1, answer });
}

/** A request that is under way. */
interface Request {
  key: RecordKey<KeyUse>;
  /** Asked for only where it matters: it costs more than most refusals. */
  fingerprint(): string;
}

/** Over answers of plain data: small ones with other names than a KeyUse has, or reserved ones of at most 64 KB. */
export class KeyedRequests<Answer extends object> {
  readonly #turns = new Semaphore<string>({ permits: 1 });
  /** Names this start of the process. */
  readonly #processId: string;

  constructor(private readonly options: KeyedRequestsOptions) {
    this.#processId = randomId(options.store);
  }

  /**
   * Does work once under a key. Whatever the work throws leaves the key unused.
   * @param key scope and key, as a record of the area
   * @param fingerprint SHA-256 of what is asked, base64url
   * @param work commits with what it is handed
   * @throws RelayError `idempotency_key_reused`, what inProgress() makes, `unavailable`
   */
  async once<T>(
    key: RecordKey<KeyUse>,
    fingerprint: () => string,
    work: (keyed: KeyedCommit<Answer>) => Promise<T>,
  ): Promise<Keyed<T, Answer>> {
    let taken: string | undefined;
    const request = { key, fingerprint: () => taken ??= fingerprint() };
    const answer = () => this.#answer(request, work);
    if (this.options.reserve !== undefined) return await answer();
    return await this.#turns.run(answer, recordName(key));
  }

  async #answer<T>(
    request: Request,
    work: (keyed: KeyedCommit<Answer>) => Promise<T>,
  ): Promise<Keyed<T, Answer>> {
    const { records, store, reserve } = this.options;
    let holder: string | undefined;
    try {
      this.#requireFree(await records.read<KeyUse>(request.key), request, momentOf(store));
      if (reserve !== undefined) holder = await this.#reserve(request, reserve.commits);
      return { replayed: false, answer: await work(this.#keyed(request, holder)) };
    } catch (error) {
      if (error instanceof AnsweredBefore) {
        return { replayed: true, answer: await this.#answerOf(request.key, error.use) };
      }
      // Where this fails too, the end of the lease gives the key back.
      if (holder !== undefined) await this.#release(request.key, holder).catch(() => {});
      throw error;
    }
  }

  /** "Another request under this key" comes before other refusals: repeating such a request never helps. */
  #requireFree(use: KeyUse | null, { fingerprint }: Request, now: Moment): void {
    if (use === null) return;
    const { uses, reserve } = this.options;
    const waitMs = this.#leaseLeftMs(use, now);
    if (waitMs === null ? uses.standing(use, now) === null : waitMs <= 0) return;
    if (use.fingerprint !== fingerprint()) throw keyReused();
    if (waitMs === null) throw new AnsweredBefore(use);
    throw reserve!.inProgress(waitMs);
  }

  /** How long nobody else takes a reservation over; null for an answered use. */
  #leaseLeftMs({ leasedUntilMs, leasedUntilElapsedMs, processId }: KeyUse, now: Moment) {
    if (leasedUntilMs === undefined) return null;
    const { exclusive, elapsed } = this.options.store;
    const isOwn = processId === this.#processId;
    if (exclusive && !isOwn) return 0;
    const [untilMs, nowMs] = isOwn
      ? [leasedUntilElapsedMs!, elapsed()]
      : [leasedUntilMs, now.nowMs];
    return leaseRuns(untilMs, LEASE, nowMs) ? Math.ceil(untilMs - nowMs) : 0;
  }

  /** @returns the attempt under which the key is reserved @throws as once(), and AnsweredBefore */
  async #reserve(request: Request, commits: Pick<GroupCommit, "submit">): Promise<string> {
    const { store } = this.options;
    const { key, fingerprint } = request;
    return await commits.submit((transaction) => {
      const use = transaction.record(key);
      this.#requireFree(use, request, transaction);
      if (use !== null) transaction.delete([...key, ...ANSWER_PART]);
      const { nowMs, livedMs, attempt } = transaction;
      const reserved: KeyUse = {
        v: 1,
        attempt,
        fingerprint: fingerprint(),
        createdAtMs: nowMs,
        livedMs,
        leasedUntilMs: nowMs + LEASE_MS,
        processId: this.#processId,
        leasedUntilElapsedMs: store.elapsed() + LEASE_MS,
      };
      // It only keeps callers from being let in needlessly, so the store may expire it.
      transaction.putRecord(key, reserved, LEASE_MS + EXPIRY_MARGIN_MS);
      return attempt;
    });
  }

  /** @param holder of the reservation, where there is one */
  #keyed(request: Request, holder: string | undefined): KeyedCommit<Answer> {
    const { uses, reserve } = this.options;
    const { key, fingerprint } = request;
    return {
      decide: (transaction) => {
        const use = transaction.record(key);
        if (holder !== undefined && isHeldBy(use, holder)) return;
        this.#requireFree(use, request, transaction);
        // Taken over after its lease had ended.
        if (holder !== undefined) throw reserve!.inProgress(LEASE_MS);
      },
      write(transaction, answer, held) {
        const { nowMs: createdAtMs, livedMs } = transaction;
        // In this order since the first version, so that stored bytes stay comparable.
        const use: KeyUse = {
          v: 1,
          fingerprint: fingerprint(),
          ...(holder === undefined ? answer : {}),
          createdAtMs,
          livedMs,
        };
        if (holder === undefined) return uses.put(transaction, key, use);
        putAnswer(transaction, key, answer);
        uses.put(transaction, key, use, { beside: [ANSWER_PART], held });
      },
    };
  }

  async #answerOf(key: RecordKey<KeyUse>, use: KeyUse): Promise<Answer> {
    const { uses, reserve } = this.options;
    if (reserve === undefined) return use as KeyUse & Answer;
    const row = await uses.readBeside<{ answer: Answer }>(this.options, key, use, ANSWER_PART);
    return row.answer;
  }

  async #release(key: RecordKey<KeyUse>, holder: string): Promise<void> {
    await this.options.reserve!.commits.submit<void>({
      whateverTheClock: true,
      plan(transaction) {
        if (isHeldBy(transaction.record(key), holder)) transaction.putRecord(key, null);
      },
    });
  }
}

function isHeldBy(use: KeyUse | null, holder: string): boolean {
  return use?.leasedUntilMs !== undefined && use.attempt === holder;
}

function keyReused(): RelayError {
  return new RelayError(
    "idempotency_key_reused",
    "this idempotency key was used for another request within the last 24 h; take a new key for a new message, or repeat the first request exactly",
  );
}
