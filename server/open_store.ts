/** The database a configuration asks for. */
import type { Config } from "./config.ts";
import { openDataFolder } from "./data_folder.ts";

export interface OpenStore {
  kv: Deno.Kv;
  /** What it is, for the start-up lines. */
  description: string;
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

function closeKv(kv: Deno.Kv): Promise<void> {
  kv.close();
  return Promise.resolve();
}
