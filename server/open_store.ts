/** The database a configuration asks for. */
import { closeKv } from "./close_kv.ts";
import type { Config } from "./config.ts";
import { openEmbeddedStore } from "./open_embedded_store.ts";
import type { OpenedStore, StoreReports } from "./opened_store.ts";
import { requirePossible } from "./storage/clock_watch.ts";

/**
 * Opens a KV server, Deno Deploy's own KV, or the embedded file with its lock held: not by an impossible
 * clock, by which an open store deletes whatever expires at all.
 * @throws Error of requirePossible(); DataFolderInUseError when another relay holds the data folder; DiskFullError
 */
export async function openStore(
  config: Config,
  nowMs: number,
  reports: StoreReports,
): Promise<OpenedStore> {
  requirePossible(nowMs);
  if (config.kvUrl !== undefined) {
    const kv = await Deno.openKv(config.kvUrl);
    const { host } = new URL(config.kvUrl);
    return { kv, description: `KV server ${host}, shared`, close: () => closeKv(kv) };
  }
  if (config.onDeploy) {
    const kv = await Deno.openKv();
    return { kv, description: "Deno Deploy's KV, shared", close: () => closeKv(kv) };
  }
  return await openEmbeddedStore(config, nowMs, reports);
}
