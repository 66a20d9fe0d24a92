/** The database a configuration asks for. */
import { closeKv } from "../base/storage/deno_kv/close_kv.ts";
import type { Config } from "../base/config/config.ts";
import { openEmbeddedStore } from "./open_embedded_store.ts";
import type { OpenedStore, StoreReports } from "./opened_store.ts";
import { requirePossible } from "../base/storage/rows/clock_watch.ts";
import { KvBackend } from "../base/storage/deno_kv/kv_backend.ts";

/**
 * Opens a KV server, Deno Deploy's own KV, or the embedded file with its lock held: not under an
 * impossible clock, since an open store would delete by it whatever expires at all.
 * @throws Error of requirePossible(); DataFolderInUseError when another relay holds the data folder; DiskFullError
 */
export async function openStore(
  config: Config,
  nowMs: number,
  reports: StoreReports,
): Promise<OpenedStore> {
  requirePossible(nowMs);
  if (config.kvUrl !== undefined) {
    const { host } = new URL(config.kvUrl);
    return opened(await Deno.openKv(config.kvUrl), `KV server ${host}, shared`);
  }
  if (config.onDeploy) {
    return opened(await Deno.openKv(), "Deno Deploy's KV, shared");
  }
  return await openEmbeddedStore(config, nowMs, reports);
}

function opened(kv: Deno.Kv, description: string): OpenedStore {
  return { backend: new KvBackend(kv), description, close: () => closeKv(kv) };
}
