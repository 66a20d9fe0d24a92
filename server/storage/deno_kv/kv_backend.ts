import { retryWhileLocked } from "./lock_retry.ts";
import type { Backend, MaybeRow, Row, RowCheck, Write } from "../backend.ts";

/** Rows of one read of a list, at most: Deno KV gives no more. */
const MOST_ROWS = 1_000;

/** Rows in Deno KV: a file, a KV server or Deno Deploy. Waits while another process locks the file. */
export class KvBackend implements Backend {
  constructor(private readonly kv: Deno.Kv) {}

  get<T>(key: Deno.KvKey): Promise<MaybeRow<T>> {
    return retryWhileLocked(() => this.kv.get<T>(key));
  }

  getMany<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]> {
    return retryWhileLocked(() => this.kv.getMany<T[]>(keys as Deno.KvKey[]));
  }

  list<T>(selector: Deno.KvListSelector, limit: number, reverse: boolean): Promise<Row<T>[]> {
    const batchSize = Math.min(limit, MOST_ROWS);
    return retryWhileLocked(async () => {
      const rows: Row<T>[] = [];
      const listed = this.kv.list<T>(selector, { limit, batchSize, reverse });
      for (;;) { // by hand: for await costs a page of messages a twentieth
        const next = await listed.next();
        if (next.done) return rows;
        rows.push(next.value);
      }
    });
  }

  watch(keys: readonly Deno.KvKey[]): ReadableStream<MaybeRow<unknown>[]> {
    return this.kv.watch<unknown[]>(keys as Deno.KvKey[]);
  }

  commit(checks: readonly RowCheck[], writes: readonly Write[]): Promise<string | null> {
    return retryWhileLocked(async () => {
      const operation = this.kv.atomic().check(...checks);
      for (const write of writes) {
        if (write.kind === "delete") operation.delete(write.key);
        else if (write.kind === "sum") operation.sum(write.key, write.amount);
        else if (write.expireInMs === undefined) operation.set(write.key, write.value);
        else operation.set(write.key, write.value, { expireIn: write.expireInMs });
      }
      const outcome = await operation.commit();
      return outcome.ok ? outcome.versionstamp : null;
    });
  }
}
