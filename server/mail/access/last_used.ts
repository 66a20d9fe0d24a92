/**
 * When keys were last used. Kept in memory and written once a minute, so that a request costs no
 * commit; a crash loses at most that minute.
 */
import type { Store } from "../../base/storage/rows/store.ts";
import { BoundedMap } from "../../base/bounds/bounded_map.ts";
import { keysKey, type KeysRecord } from "../records/key_record.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

/** A row has two checks at most: that its key stands, and that no later time was written. */
const CHECKS_A_ROW = 2;
const REMEMBERED = 50_000;

interface Use {
  orgId: string;
  keyId: string;
  atMs: number;
}

export const usedKey = defineRow<[orgId: string, keyId: string]>(["mail-key-used"], 2, {
  holds: "when a key was last used, in unix ms, at most a minute late",
});

export class LastUsed {
  readonly #latest = new BoundedMap<string, number>(REMEMBERED);
  #unwritten = new Map<string, Use>();

  constructor(private readonly store: Store) {}

  /** Records an accepted request with the key. */
  touch(orgId: string, keyId: string): void {
    const atMs = this.store.now();
    this.#latest.set(keyId, atMs);
    this.#unwritten.set(keyId, { orgId, keyId, atMs });
  }

  /** Unix ms of the last accepted request with each key, at most a minute late; null before the first. */
  async read(orgId: string, keyIds: readonly string[]): Promise<Map<string, number | null>> {
    const found = new Map<string, number | null>();
    const store = this.store;
    await Promise.all(keyIds.map(async (keyId) => {
      const { value } = await store.get<number>(usedKey(orgId, keyId));
      const own = this.#latest.get(keyId);
      found.set(keyId, own === undefined ? value : Math.max(own, value ?? 0));
    }));
    return found;
  }

  /** Writes what changed. Called every minute and at shutdown. */
  async flush(): Promise<void> {
    const uses = [...this.#unwritten.values()];
    this.#unwritten = new Map();
    const size = Math.max(1, Math.floor(this.store.capacity.checks / CHECKS_A_ROW));
    for (let from = 0; from < uses.length; from += size) {
      try {
        await this.#write(uses.slice(from, from + size));
      } catch (error) {
        for (const use of uses.slice(from)) {
          if (!this.#unwritten.has(use.keyId)) this.#unwritten.set(use.keyId, use);
        }
        throw error;
      }
    }
  }

  /** Writes no row of a deleted key, and none over a later time, however many commit meanwhile. */
  async #write(uses: readonly Use[]): Promise<void> {
    await this.store.transact(async (transaction) => {
      const orgs = await transaction.getMany<KeysRecord[]>(uses.map(({ orgId }) => keysKey(orgId)));
      const rows = await transaction.getMany<number[]>(
        uses.map(({ orgId, keyId }) => usedKey(orgId, keyId)),
      );
      for (const [i, { keyId, atMs }] of uses.entries()) {
        const stands = orgs[i]!.value?.keys.some(({ id }) => id === keyId) ?? false;
        const { key, value } = rows[i]!;
        if (stands && (value === null || value < atMs)) transaction.set(key, atMs);
      }
    });
  }
}
