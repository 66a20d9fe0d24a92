/** The embedded store: one file in a data folder of this relay's own. */
import fs from "node:fs";
import { promisify } from "node:util";
import { closeKv } from "../base/storage/deno_kv/close_kv.ts";
import type { Config } from "../base/config/config.ts";
import { type DataFolder, openDataFolder } from "./data_folder.ts";
import type { Log } from "../base/log.ts";
import { DiskReserve } from "./disk_reserve.ts";
import { logSparsely } from "../base/log_sparsely.ts";
import type { OpenedStore, StoreReports } from "./opened_store.ts";
import { clearExpired } from "../base/storage/deno_kv/clear_expired.ts";
import { growLog } from "../base/storage/deno_kv/grow_log.ts";
import { KvBackend } from "../base/storage/deno_kv/kv_backend.ts";
import { requireAnswer, StoreSilent } from "../base/storage/rows/require_answer.ts";
import { MINUTE_MS } from "../base/time/time_units.ts";
import { LAYOUT_KEY } from "../base/storage/rows/layout.ts";

/**
 * Takes the data folder, clears what has expired, opens the file and takes room for a full disk.
 * @throws DataFolderInUseError, UnusableDataFolderError, DiskFullError, StoreSilent
 */
export async function openEmbeddedStore(
  { dataDir, sharedStore, limits }: Config,
  nowMs: number,
  { tell, log, lost }: StoreReports,
): Promise<OpenedStore> {
  const measureFreeBytes = () => freeBytes(dataDir);
  const reserve = new DiskReserve({
    path: dataDir,
    measureFreeBytes,
    minFreeBytes: limits.minFreeDiskBytes,
    log,
  });
  const folder = await openDataFolder(dataDir, {
    shared: sharedStore,
    nowMs,
    whenHeld: () => reserve.requireRoom(),
  });
  try {
    await createPrivately(folder.kvPath);
    await clearExpired({
      path: folder.kvPath,
      shared: sharedStore,
      now: Date.now,
      freeBytes: measureFreeBytes,
      onProgress: tellProgress(tell),
    });
    const kv = await Deno.openKv(folder.kvPath);
    const backend = new KvBackend(kv);
    await firstAnswer(backend, sharedStore, tell);
    await reserve.keep();
    await growLogWithin(folder.kvPath, measureFreeBytes);
    const stopWatching = watchFolder(folder, log, lost);
    return {
      backend,
      description: `embedded file ${folder.kvPath}, ${sharedStore ? "shared" : "exclusive"}`,
      measureFreeBytes,
      writeFailed: (failure) => reserve.writeFailed(failure),
      async close() {
        stopWatching();
        await reserve.close();
        await closeKv(kv);
        await folder.release();
      },
    };
  } catch (error) {
    await reserve.close();
    await folder.release();
    throw error;
  }
}

/** Looks each minute whether the folder is still held. @returns ends it */
function watchFolder(folder: DataFolder, log: Log, lost: StoreReports["lost"]): () => void {
  const look = async () => {
    if (await folder.isHeld()) return;
    stop();
    lost(
      `the file lock in RELAY_DATA_DIR ${folder.path} was deleted or replaced while this relay ran: another ` +
        "relay may have taken the folder, so this one stops at once; never delete that file, and start one relay again",
    );
  };
  const logFailure = logSparsely(log, "data_folder_unseen");
  const timer = setInterval(() => void look().catch(logFailure), MINUTE_MS);
  Deno.unrefTimer(timer);
  const stop = () => clearInterval(timer);
  return stop;
}

/** Rows whose deletion nobody has to wait for. */
const FEW_ROWS = 20_000;
const TELL_EVERY_MS = 2_000;

function tellProgress(tell: (line: string) => void): (done: number, total: number) => void {
  let toldMs = -Infinity;
  return (done, total) => {
    if (total < FEW_ROWS) return;
    const isLast = done >= total;
    if (!isLast && performance.now() - toldMs < TELL_EVERY_MS) return;
    toldMs = performance.now();
    const [part, whole] = [done, total].map((rows) => rows.toLocaleString("en"));
    tell(`relay: deleting expired rows before the start: ${part} of ${whole}`);
  };
}

/**
 * Waits for the store. A shared one may be held by a process that never lets go, which ends the wait;
 * this relay's own has no such excuse, and takes the time that it takes, such as for a long log.
 * @throws StoreSilent
 */
async function firstAnswer(
  backend: KvBackend,
  shared: boolean,
  tell: (line: string) => void,
): Promise<void> {
  const answer = backend.get(LAYOUT_KEY);
  if (shared) return void await requireAnswer(answer);
  try {
    await requireAnswer(answer);
  } catch (error) {
    if (!(error instanceof StoreSilent)) throw error;
    tell("relay: the store takes long to open; a start that is stopped now loses nothing");
    await answer;
  }
}

/** How long SQLite's log is made in advance, and which part of the free disk it may take. */
const LOG_BYTES = 16 * 2 ** 20;
const LOG_SHARE_OF_FREE = 4;

/**
 * The store deletes what expires by itself, and a disk without room for that ends the process: so
 * the room is taken now. Without it everything else works.
 */
async function growLogWithin(path: string, freeBytes: () => Promise<number>): Promise<void> {
  try {
    const sizeBytes = Math.min(LOG_BYTES, Math.floor(await freeBytes() / LOG_SHARE_OF_FREE));
    const present = await Deno.stat(`${path}-wal`).then(({ size }) => size, () => 0);
    if (present < sizeBytes) growLog(path, sizeBytes);
  } catch {
    // No room, or no such file: the store fails by itself where that matters.
  }
}

/**
 * Makes the store's file, where there is none, for this user alone: a folder that the operator made
 * may be open to others. What SQLite puts beside it gets the same mode.
 */
async function createPrivately(path: string): Promise<void> {
  try {
    (await Deno.open(path, { createNew: true, write: true, mode: 0o600 })).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

/** Bytes an unprivileged process may still write on the disk of a folder. */
async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await promisify(fs.statfs)(path);
  return bavail * bsize;
}
