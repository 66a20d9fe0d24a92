/** Makes stores with many rows without Deno KV, which takes minutes for a million. */
import { DatabaseSync } from "node:sqlite";

export interface RowsToWrite {
  count: number;
  /** When they expire, in unix ms; -1 for never. */
  expiresAtMs: number;
  /**
   * Each row expires up to this much earlier, so that the order of expiry differs from the
   * order of keys, as in real stores.
   */
  spreadMs?: number;
  valueBytes?: number;
}

/**
 * Writes rows under scattered keys of their own, to a store that Deno KV made and has closed. No
 * key of the relay begins as these keys do.
 */
export function writeRows(kvPath: string, rows: RowsToWrite): void {
  const { count, expiresAtMs, spreadMs = 1, valueBytes = 300 } = rows;
  using db = closing(new DatabaseSync(kvPath));
  db.value.exec("PRAGMA synchronous = OFF");
  db.value.prepare(
    `INSERT INTO kv (k, v, v_encoding, version, expiration_ms)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     SELECT CAST(x'0266696c6c65720002' || hex(randomblob(8)) || printf('%09d', i) || x'00' AS BLOB),
            randomblob(?), 2, 1, ? - abs(random() % ?) FROM n`,
  ).run(count, valueBytes, expiresAtMs, spreadMs);
}

/** Counts the rows of a store, open or not, and how many of them have a time of expiry. */
export function countRows(kvPath: string): { rows: number; expiring: number } {
  using db = closing(new DatabaseSync(kvPath, { readOnly: true }));
  const counted = db.value.prepare(
    "SELECT count(*) AS rows, coalesce(sum(expiration_ms >= 0), 0) AS expiring FROM kv",
  ).get()!;
  return { rows: Number(counted.rows), expiring: Number(counted.expiring) };
}

function closing(value: DatabaseSync): Disposable & { value: DatabaseSync } {
  return { value, [Symbol.dispose]: () => value.close() };
}
