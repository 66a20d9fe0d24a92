/**
 * When keys were last used. Kept in memory and written once a minute, so that a request costs no
 * commit; a crash loses at most that minute.
 */
import { BoundedMap } from "../../storage/bounded_map.ts";
import { retryWhileLocked } from "../../storage/lock_retry.ts";
import type { Store } from "../../storage/store.ts";
import { keysKey, type KeysRecord } from "../records/key_record.ts";

/** A row has two checks at most: that its key stands, and that nobody wrote a later time. */
const CHECKS_A_ROW = 2;
/** What Deno KV reads at once. */
const ROWS_A_READ = 10;
const CONFLICTS = 5;
const REMEMBERED = 50_000;

interface Use {
  orgId: string;
  keyId: string;
  atMs: number;
}

/** ["mail-key-used", orgId, keyId] -> unix ms */
export const usedKey = (orgId: string, keyId: string): Deno.KvKey => [
  "mail-key-used",
  orgId,
  keyId,
];

export class LastUsed {
  readonly #latest = new BoundedMap<string, number>(REMEMBERED);
  #unwritten = new Map<string, Use>();

  constructor(private readonly store: Pick<Store, "kv" | "now" | "capacity">) {}

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

  /** Writes no row of a key that is no more, and none over a later time, whoever commits meanwhile. */
  async #write(uses: readonly Use[]): Promise<void> {
    const { kv } = this.store;
    for (let tries = 1;; tries++) {
      const isWritten = await retryWhileLocked(async () => {
        const orgs = await readRows<KeysRecord>(kv, uses.map(({ orgId }) => keysKey(orgId)));
        const rows = await readRows<number>(
          kv,
          uses.map(({ orgId, keyId }) => usedKey(orgId, keyId)),
        );
        const operation = kv.atomic();
        let isEmpty = true;
        for (const [i, { keyId, atMs }] of uses.entries()) {
          const [org, row] = [orgs[i]!, rows[i]!];
          const stands = org.value?.keys.some(({ id }) => id === keyId) ?? false;
          if (!stands || (row.value !== null && row.value >= atMs)) continue;
          operation.check(org, row).set(row.key, atMs);
          isEmpty = false;
        }
        return isEmpty || (await operation.commit()).ok;
      });
      if (isWritten) return;
      if (tries === CONFLICTS) throw new Error("the last uses of keys met other commits each time");
    }
  }

  /** Forgets a key that is no more. */
  forget(keyId: string): void {
    this.#latest.delete(keyId);
    this.#unwritten.delete(keyId);
  }
}

async function readRows<T>(
  kv: Deno.Kv,
  keys: readonly Deno.KvKey[],
): Promise<Deno.KvEntryMaybe<T>[]> {
  const rows: Deno.KvEntryMaybe<T>[] = [];
  for (let from = 0; from < keys.length; from += ROWS_A_READ) {
    rows.push(...await kv.getMany<T[]>(keys.slice(from, from + ROWS_A_READ)));
  }
  return rows;
}
