/**
 * Requests under one idempotency key, where a second one waits for the first: in this process by
 * its flight, in others by the version of the record that both commits write. Nothing is written
 * before the work's own commit. For work that is short, and answers that are small: the answer lies
 * in the record itself, which memory keeps.
 */
import type { RecordCache } from "../storage/commits/record_cache.ts";
import type { RecordKey } from "../storage/commits/record_key.ts";
import type { Store } from "../storage/rows/store.ts";
import {
  ANSWER_KEPT_MS,
  AnsweredBefore,
  isAnswered,
  type Keyed,
  type KeyedCommit,
  type KeyUse,
  requireSameRequest,
} from "./key_use.ts";
import { type Moment, momentOf, stageRepetition } from "./repetition.ts";

/** A record under a key: its use, and beside it the fields of the answer, whose names are others. */
export type KeptAnswer<Answer extends object> = KeyUse & Answer;

export class JoinedRequests<Answer extends object> {
  readonly #flights = new Map<string, Promise<unknown>>();

  constructor(
    private readonly store: Pick<Store, "now" | "lived">,
    private readonly records: Pick<RecordCache, "read">,
  ) {}

  /**
   * Does work once under a key. Refusals do not use the key up.
   * @param key scope and key, as a record of the area
   * @param fingerprintOf asked for only where it matters: it costs more than most refusals
   * @param work commits with what it is handed, made when the request has been found to be in order
   * @throws RelayError `idempotency_key_reused` when the key was used for another request
   */
  async once<T>(
    key: RecordKey<KeptAnswer<Answer>>,
    fingerprintOf: () => string,
    work: (keyed: () => KeyedCommit<Answer>) => Promise<T>,
  ): Promise<Keyed<T, KeptAnswer<Answer>>> {
    const name = key.join("/");
    while (this.#flights.has(name)) await this.#flights.get(name)!.catch(() => {});
    const flight = this.#answer(key, fingerprintOf, work);
    this.#flights.set(name, flight);
    try {
      return await flight;
    } finally {
      this.#flights.delete(name);
    }
  }

  async #answer<T>(
    key: RecordKey<KeptAnswer<Answer>>,
    fingerprintOf: () => string,
    work: (keyed: () => KeyedCommit<Answer>) => Promise<T>,
  ): Promise<Keyed<T, KeptAnswer<Answer>>> {
    const stored = await this.records.read<KeptAnswer<Answer>>(key);
    let fingerprint: string | undefined;
    const decide = (kept: KeptAnswer<Answer> | null, now: Moment) => {
      if (kept === null || !isAnswered(kept, now)) return;
      requireSameRequest(kept, fingerprint ??= fingerprintOf());
      throw new AnsweredBefore(kept);
    };
    try {
      decide(stored, momentOf(this.store));
      const answer = await work(() => {
        const asked = fingerprint ??= fingerprintOf();
        return {
          key,
          decide: (transaction) => decide(transaction.record(key), transaction),
          write(transaction, answer) {
            // In this order since the first version, so that stored bytes stay comparable.
            const { nowMs: createdAtMs, livedMs } = transaction;
            transaction.putRecord(key, {
              v: 1,
              fingerprint: asked,
              ...answer,
              createdAtMs,
              livedMs,
            });
            stageRepetition(transaction, key, ANSWER_KEPT_MS);
          },
        };
      });
      return { replayed: false, answer };
    } catch (error) {
      if (!(error instanceof AnsweredBefore)) throw error;
      return { replayed: true, answer: error.use as KeptAnswer<Answer> };
    }
  }
}
