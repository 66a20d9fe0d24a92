/**
 * Deletes expired rows from an embedded store before it is opened. Deno KV deletes all of them in
 * one transaction when it opens a file, and answers nothing until that is done. After a long stop,
 * or on an old backup, that takes minutes and a log as large as the store.
 */
import { DatabaseSync } from "node:sqlite";
import { isDatabaseLocked } from "./lock_retry.ts";

export interface ClearOptions {
  /** Path of the store's file; one that is missing or empty has no expired rows. */
  path: string;
  /**
   * Other processes may have the file open. Batches are then small, and their lock is not waited
   * for.
   */
  shared: boolean;
  now: () => number;
  /** Bytes that an unprivileged process may still write on the file's disk. */
  freeBytes: () => Promise<number>;
  /**
   * Called before the first batch and after each one: rows deleted so far, and rows to delete in
   * all.
   */
  onProgress?: (done: number, total: number) => void;
}

/** The versions of Deno KV's tables, and of their rule of expiry, that this code knows. */
const KNOWN_TABLES = 3;
/**
 * Rows of one transaction. A larger one writes each page less often, but its log takes up to 4 KB a
 * row.
 */
const BATCH_ROWS = 10_000;
const SMALL_BATCH_ROWS = 1_000;
const ROOM_FOR_LARGE_BATCHES_BYTES = 512 * 2 ** 20;
const LOCK_WAIT_MS = 2_000;

/** Deno KV's own rule for deleting. */
const EXPIRED = "expiration_ms >= 0 AND expiration_ms <= ?";
const DELETE_BATCH =
  `DELETE FROM kv WHERE k IN (SELECT k FROM kv WHERE ${EXPIRED} ORDER BY expiration_ms LIMIT ?)`;

/**
 * Deletes the rows that have expired, in transactions of bounded size. A process that is killed has
 * deleted a part, and the next start deletes the rest. Tables of another version are left to Deno
 * KV. So are the remaining rows when another process locks a shared file.
 * @returns rows deleted
 * @throws Error of SQLite when the file is no database, damaged, or its disk full
 */
export async function clearExpired(options: ClearOptions): Promise<number> {
  const { path, shared, now, freeBytes, onProgress } = options;
  if (!await holdsRows(path)) return 0;
  using store = openTables(path);
  if (!hasKnownTables(store.db)) return 0;
  const counted = store.db.prepare(`SELECT count(*) AS total FROM kv WHERE ${EXPIRED}`).get(now());
  const total = Number(counted!.total);
  if (total === 0) return 0;
  onProgress?.(0, total);
  const deleteBatch = store.db.prepare(DELETE_BATCH);
  let done = 0;
  while (done < total) {
    const large = !shared && await freeBytes() >= ROOM_FOR_LARGE_BATCHES_BYTES;
    try {
      const { changes } = deleteBatch.run(now(), large ? BATCH_ROWS : SMALL_BATCH_ROWS);
      if (Number(changes) === 0) break; // other processes delete them too
      done += Number(changes);
    } catch (error) {
      if (shared && isDatabaseLocked(error)) break;
      throw error;
    }
    onProgress?.(done, total);
    await new Promise((resolve) => setTimeout(resolve)); // lets signals be handled
  }
  return done;
}

async function holdsRows(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).size > 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * SQLite moves its log into the file after each commit that leaves over 1,000 pages in it. The log
 * therefore never grows beyond one batch. Without a sync a power failure may undo a commit but
 * leaves the file whole: the next start deletes those rows again.
 */
function openTables(path: string): Disposable & { db: DatabaseSync } {
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    db.exec("PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA cache_size = -65536"); // KiB
  } catch (error) {
    db.close();
    throw error;
  }
  return { db, [Symbol.dispose]: () => db.close() };
}

function hasKnownTables(db: DatabaseSync): boolean {
  const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const tables = new Set(names.map(({ name }) => name));
  if (!tables.has("kv") || !tables.has("migration_state")) return false;
  const version = db.prepare("SELECT version FROM migration_state WHERE k = 0").get()?.version;
  return version === KNOWN_TABLES;
}
