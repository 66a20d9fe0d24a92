/** Takes room for SQLite's write-ahead log before the disk is full. */
import { DatabaseSync } from "node:sqlite";

/**
 * Makes the log beside an open embedded store at least as large as given. Later transactions then
 * overwrite its pages instead of taking more of the disk. SQLite never makes the log smaller while
 * a store is open. It deletes the log with the last connection, so the store has to be open before.
 * A transaction larger than the cache is written to the log early; rolled back, it leaves only the
 * length. Nothing is done while another connection holds the write lock.
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
