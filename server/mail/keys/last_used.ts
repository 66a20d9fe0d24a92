/**
 * When keys were last used. Kept in memory and written once a minute, so that a request costs no
 * commit; a crash loses at most that minute.
 */
import { BoundedMap } from "../../storage/bounded_map.ts";
import { retryWhileLocked } from "../../storage/lock_retry.ts";
import type { Store } from "../../storage/store.ts";

const ROWS_A_COMMIT = 500;
const REMEMBERED = 50_000;

/** ["mail-key-used", orgId, keyId] -> unix ms */
const usedKey = (orgId: string, keyId: string): Deno.KvKey => ["mail-key-used", orgId, keyId];

/** Where the times of an org's keys stand. */
export const usedKeysOf = (orgId: string): Deno.KvKey => ["mail-key-used", orgId];

export class LastUsed {
  readonly #latest = new BoundedMap<string, number>(REMEMBERED);
  #unwritten = new Map<string, { orgId: string; keyId: string; atMs: number }>();

  constructor(private readonly store: Pick<Store, "kv" | "now">) {}

  /** Records an accepted request with the key. */
  touch(orgId: string, keyId: string): void {
    const atMs = this.store.now();
    this.#latest.set(keyId, atMs);
    this.#unwritten.set(keyId, { orgId, keyId, atMs });
  }

  /** Unix ms of the last accepted request with each key, at most a minute late; null before the first. */
  async read(orgId: string, keyIds: readonly string[]): Promise<Map<string, number | null>> {
    const found = new Map<string, number | null>();
    const { kv } = this.store;
    await Promise.all(keyIds.map(async (keyId) => {
      const { value } = await retryWhileLocked(() => kv.get<number>(usedKey(orgId, keyId)));
      const own = this.#latest.get(keyId);
      found.set(keyId, own === undefined ? value : Math.max(own, value ?? 0));
    }));
    return found;
  }

  /** Writes what changed. Called every minute and at shutdown. */
  async flush(): Promise<void> {
    const rows = [...this.#unwritten.values()];
    this.#unwritten = new Map();
    const { kv } = this.store;
    for (let from = 0; from < rows.length; from += ROWS_A_COMMIT) {
      try {
        await retryWhileLocked(() => {
          const operation = kv.atomic();
          for (const { orgId, keyId, atMs } of rows.slice(from, from + ROWS_A_COMMIT)) {
            operation.set(usedKey(orgId, keyId), atMs);
          }
          return operation.commit();
        });
      } catch (error) {
        for (const row of rows.slice(from)) {
          if (!this.#unwritten.has(row.keyId)) this.#unwritten.set(row.keyId, row);
        }
        throw error;
      }
    }
  }

  /** Forgets a key that is no more, so that no flush writes it again. */
  forget(keyId: string): void {
    this.#latest.delete(keyId);
    this.#unwritten.delete(keyId);
  }
}
