import { StoreFailed } from "../rows/call_deadline.ts";
import { retryWhileLocked } from "./lock_retry.ts";
import type { Backend, MaybeRow, Row, RowCheck, Write } from "../rows/backend.ts";

/** Rows of one read of a list, at most: Deno KV gives no more. */
const MOST_ROWS = 1_000;

/**
 * What Deno KV says where the store failed, by its words: SQLite's failures are TypeErrors, as mistakes of
 * callers are. A KV server that is out of reach is not among it: its client asks again for ever.
 */
const FAILURES = [
  // From SQLite.
  /^(?:database |disk I\/O error|unable to open database|attempt to write a readonly|file is not a database)/i,
  // From the client of a KV server. With 400 or 413 the server faults the request, not itself.
  /^KV Connect failed (?!to call .*\(status=4(?:00|13) )/,
  /\(status=400 .*(?:Invalid database id|database is read only)/,
  /^Failed to (?:fetch|parse) metadata|^Metadata response body invalid/,
  /^(?:Reads|Writes) are disabled|^Unspecified (?:read|write) error|^strong consistency/i,
  /^error sending request/,
  /^Requires net access/, // it names another host than before
];

function isFailureOfStore(error: unknown): boolean {
  return error instanceof Error && FAILURES.some((words) => words.test(error.message));
}

/** Waits while another process locks the file. @throws StoreFailed */
async function ask<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await retryWhileLocked(call);
  } catch (error) {
    throw isFailureOfStore(error) ? new StoreFailed(error) : error;
  }
}

/** Rows in Deno KV: a file, a KV server or Deno Deploy. */
export class KvBackend implements Backend {
  constructor(private readonly kv: Deno.Kv) {}

  get<T>(key: Deno.KvKey): Promise<MaybeRow<T>> {
    return ask(() => this.kv.get<T>(key));
  }

  getMany<T>(keys: readonly Deno.KvKey[]): Promise<MaybeRow<T>[]> {
    return ask(() => this.kv.getMany<T[]>(keys as Deno.KvKey[]));
  }

  list<T>(selector: Deno.KvListSelector, limit: number, reverse: boolean): Promise<Row<T>[]> {
    const batchSize = Math.min(limit, MOST_ROWS);
    return ask(async () => {
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
    return ask(async () => {
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
