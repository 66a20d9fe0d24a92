/** The database a configuration asks for. */
import fs from "node:fs";
import { promisify } from "node:util";
import type { Config } from "./config.ts";
import { openDataFolder } from "./data_folder.ts";

export interface OpenStore {
  kv: Deno.Kv;
  /** What it is, for the start-up lines. */
  description: string;
  /** Free bytes on the store's disk; absent where it is not on a disk of ours. */
  measureFreeBytes?: () => Promise<number>;
  /** Closes the database and gives the data folder free. */
  close(): Promise<void>;
}

/**
 * Opens a KV server, Deno Deploy's own KV, or the embedded file with its lock held.
 * @throws DataFolderInUseError when another relay holds the data folder
 */
export async function openStore(config: Config, nowMs: number): Promise<OpenStore> {
  if (config.kvUrl !== undefined) {
    const kv = await Deno.openKv(config.kvUrl);
    const { host } = new URL(config.kvUrl);
    return { kv, description: `KV server ${host}, shared`, close: () => closeKv(kv) };
  }
  if (config.onDeploy) {
    const kv = await Deno.openKv();
    return { kv, description: "Deno Deploy's KV, shared", close: () => closeKv(kv) };
  }
  const folder = await openDataFolder(config.dataDir, { shared: config.sharedStore, nowMs });
  try {
    await createPrivately(folder.kvPath);
    const kv = await Deno.openKv(folder.kvPath);
    return {
      kv,
      description: `embedded file ${folder.kvPath}, ${config.sharedStore ? "shared" : "exclusive"}`,
      measureFreeBytes: () => freeBytes(folder.path),
      async close() {
        await closeKv(kv);
        await folder.release();
      },
    };
  } catch (error) {
    await folder.release();
    throw error;
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

/** How long a store may take for a last write before the process ends without closing it. */
const CLOSING_MS = 500;

/**
 * Closes the database if it still takes writes. Deno.Kv.close() waits, event loop and all, for
 * whatever is pending, and on a file that another process has locked that is for ever. The end of
 * the process closes it as well: what was committed is safe.
 */
async function closeKv(kv: Deno.Kv): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), CLOSING_MS);
  const answers = kv.delete(["meta", "closing"]).then(() => true, () => false);
  if (await Promise.race([answers, late])) kv.close();
  clearTimeout(timer);
}
