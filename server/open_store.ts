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

/** Bytes an unprivileged process may still write on the disk of a folder. */
async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await promisify(fs.statfs)(path);
  return bavail * bsize;
}

function closeKv(kv: Deno.Kv): Promise<void> {
  kv.close();
  return Promise.resolve();
}
