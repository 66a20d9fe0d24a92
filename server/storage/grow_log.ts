/** Room for SQLite's write-ahead log, taken before the disk is full. */
import { DatabaseSync } from "node:sqlite";

/**
 * Makes the log beside an open embedded store at least so large, so that later transactions overwrite
 * what it has instead of taking more of the disk. SQLite never makes it smaller while a store is open;
 * the log is deleted with the last connection, hence the store has to be open before. A transaction
 * larger than the cache is written to the log early; rolled back, it leaves nothing but the length.
 * Where another connection holds the write lock, nothing is done.
 * @param path of the store's file
 * @throws Error of SQLite when the disk has no such room
 */
export function growLog(path: string, sizeBytes: number): void {
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA busy_timeout = 0");
    db.exec("PRAGMA cache_size = 16"); // pages
    try {
      db.exec("BEGIN IMMEDIATE");
    } catch {
      return;
    }
    try {
      const row = "INSERT INTO kv (k, v, v_encoding, version) VALUES (x'00', zeroblob(?), 2, 0)";
      db.prepare(row).run(sizeBytes);
    } finally {
      if (db.isTransaction ?? true) db.exec("ROLLBACK"); // a full disk may have ended it
    }
  } finally {
    db.close();
  }
}
