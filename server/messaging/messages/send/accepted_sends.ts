/**
 * Which sends were accepted, by their signatures, and what each was answered. On an exclusive store
 * memory tells which signatures are new: a commit under way keeps its sender's record until its outcome
 * is known, and memory learns of it before the record is free. On a shared one it remembers those of this
 * process, and what an exclusive process stored in groups before.
 *
 * Memory has each ten signed seconds whole before it answers for them. What the store may hold of them
 * is read when they are first asked for: after a start, and when memory had no room for them.
 */
import {
  keepSignatureUntilMs,
  sigKey,
  SIGNATURE_HALF_AT,
  signatureKey,
  type SignatureUse,
} from "../../agents/signature_use.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { fingerprintOf, Fingerprints, type UseRowKey } from "./fingerprints.ts";
import type { SendUseRow } from "./send_answer.ts";
import {
  BUCKET_SECONDS,
  bucketOf,
  findGroupedUse,
  halvesOf,
  useGroupKey,
  useGroupsKey,
} from "./use_group.ts";

type Use = Pick<SignatureUse, "signature" | "timestampSeconds">;

/** What the rows that may hold a signature have of it. */
export interface FoundUse {
  answer: SendUseRow | null;
  /** How many rows that is. */
  looked: number;
}

const NEW_USE: FoundUse = { answer: null, looked: 0 };

export interface AcceptedSendsOptions {
  store: Store;
  records: RecordCache;
  signatureWindowSeconds: number;
  /** Signatures in memory. */
  capacity?: number;
}

export class AcceptedSends {
  readonly #memory: Fingerprints;
  readonly #restores = new Map<number, Promise<void>>();

  constructor(private readonly options: AcceptedSendsOptions) {
    this.#memory = new Fingerprints({
      seed: options.store.random(8),
      capacity: options.capacity,
    });
  }

  /** Waits until memory knows the signatures of this second; undefined when it does. */
  recall({ timestampSeconds }: Use): Promise<void> | undefined {
    return this.#memory.isComplete(timestampSeconds) ? undefined : this.#recall(timestampSeconds);
  }

  async #recall(timestampSeconds: number): Promise<void> {
    const bucket = bucketOf(timestampSeconds);
    while (!this.#memory.isComplete(timestampSeconds)) {
      let restore = this.#restores.get(bucket);
      if (restore === undefined) {
        restore = this.#restore(bucket).finally(() => this.#restores.delete(bucket));
        this.#restores.set(bucket, restore);
      }
      await restore;
    }
  }

  async #restore(bucket: number): Promise<void> {
    const { store } = this.options;
    const completed = this.#memory.restore(bucket, this.#keptUntilMs(bucket)); // before the read: nothing falls between them
    const second = bucket * BUCKET_SECONDS;
    try {
      const groups = { prefix: useGroupsKey(bucket) };
      for await (const rows of store.batches<Uint8Array>(groups)) {
        for (const { key, value } of rows) {
          for (const half of halvesOf(value)) {
            this.#memory.add(fingerprintOf(half, 0), second, key);
          }
        }
      }
      if (store.exclusive) {
        const single = {
          start: sigKey.under(second),
          end: sigKey.under(second + BUCKET_SECONDS),
        };
        for await (const rows of store.batches<{ use: string }>(single)) {
          for (const { key, value } of rows) {
            if (value.use !== "send") continue;
            this.#memory.add(fingerprintOf(key[3] as Uint8Array, 0), second, null);
          }
        }
      }
      completed();
    } catch (error) {
      this.#memory.forget(bucket);
      throw error;
    }
  }

  /** By the monotonic clock: a leap of the other one must not have everything read again. */
  #keptUntilMs(bucket: number): number {
    const { store: { now, elapsed }, signatureWindowSeconds } = this.options;
    const endSeconds = (bucket + 1) * BUCKET_SECONDS;
    return elapsed() + keepSignatureUntilMs(endSeconds, signatureWindowSeconds) - now();
  }

  /** Whether memory remembers the signature. */
  mayHave(use: Use): boolean {
    return this.#placesOf(use).length > 0;
  }

  /** What a commit needs to know of a signature; on a shared store a miss in memory costs no read. */
  lookUp(senderId: number, use: Use): Promise<FoundUse> | FoundUse {
    return this.mayHave(use) ? this.find(senderId, use) : NEW_USE;
  }

  /** What the store has of a signature: by the rows that memory names, and on a shared store by its own. */
  async find(senderId: number, use: Use): Promise<FoundUse> {
    const { store, records } = this.options;
    const places = this.#placesOf(use);
    const rows = store.exclusive || places.includes(null) ? places : [null, ...places];
    for (const place of rows) {
      const key = place ?? signatureKey(senderId, use);
      const row = await records.readRow<Uint8Array | SendUseRow>(key);
      const answer = row instanceof Uint8Array ? findGroupedUse(key, row, senderId, use) : row;
      if (answer?.use === "send") return { answer, looked: places.length };
    }
    return { answer: null, looked: places.length };
  }

  /** Whether memory has forgotten, or learnt of more rows that may hold the signature, since a look-up. */
  isOutdated(use: Use, { looked }: FoundUse): boolean {
    return !this.#memory.isComplete(use.timestampSeconds) || this.#placesOf(use).length > looked;
  }

  /** A send with this signature was stored. @param row the row that holds it */
  add({ signature, timestampSeconds }: Use, row: Deno.KvKey): void {
    const fingerprint = fingerprintOf(signature, SIGNATURE_HALF_AT);
    this.#memory.add(fingerprint, timestampSeconds, row[1] === "group" ? row : null);
  }

  /** Key of the row that holds the signature of a send that an attempt stores. */
  rowOf(
    senderId: number,
    use: Use,
    attempt: Parameters<typeof useGroupKey>[1],
  ): Deno.KvKey {
    if (!this.options.store.exclusive) return signatureKey(senderId, use);
    return useGroupKey(use.timestampSeconds, attempt);
  }

  forgetExpired(): void {
    this.#memory.forgetExpired(this.options.store.elapsed());
  }

  #placesOf({ signature, timestampSeconds }: Use): readonly UseRowKey[] {
    return this.#memory.placesOf(fingerprintOf(signature, SIGNATURE_HALF_AT), timestampSeconds);
  }
}
