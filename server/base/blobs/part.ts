/** The blob store as a part of the relay: in files or in the store, with its sweeps. */
import { join } from "node:path";
import type { Core } from "../parts/core.ts";
import { describeFailure } from "../describe_failure.ts";
import { logSparsely } from "../log_sparsely.ts";
import type { Part } from "../parts/part.ts";
import { FreeDisk } from "../storage/free_disk.ts";
import { startupNote } from "../config/startup_notes.ts";
import type { StorageOptions } from "../storage/part.ts";
import type { BlobBytes } from "./blob_bytes.ts";
import { BlobFiles } from "./blob_files.ts";
import type { BlobName } from "./blob_name.ts";
import { BlobParts } from "./blob_parts.ts";
import { BlobStore } from "./blob_store.ts";
import { BlobWriter, blobWriterIn } from "./blob_writer.ts";
import type { Blobs } from "./blobs.ts";
import { Deletions } from "./deletions.ts";
import { reportMissingBytes } from "./report_missing_bytes.ts";
import { Orphans } from "./orphans.ts";
import { RecentWrites } from "./recent_writes.ts";
import { StoreMark } from "./store_mark.ts";

const FOLDER = "mail";
const MAIL_WAITS =
  "the relay's disk is nearly full: mail is neither taken nor sent until its operator makes room; reads go on";

const leftAlone = (root: string) =>
  `${root} has those of another store: they are left alone; stop this relay and put the store that they belong to back, or delete ${
    join(root, "store")
  } alone to give them up: what this store names stays`;

export interface BlobsPart extends Part {
  blobs: Blobs;
  everyMinute(): Promise<void>;
}

/** @param options measureFreeBytes of the data folder's disk, where that is ours */
export async function openBlobs(
  { deps, store, records, commits, leases, limits }: Pick<
    Core,
    "deps" | "store" | "records" | "commits" | "leases" | "limits"
  >,
  { measureFreeBytes }: Pick<StorageOptions, "measureFreeBytes"> = {},
): Promise<BlobsPart> {
  const { config, log } = deps;
  const root = join(config.dataDir, FOLDER);
  const mark = config.hosted ? null : new StoreMark(store, root);
  const writer = new BlobWriter({
    start: blobWriterIn(root),
    onLoss: logSparsely(log, "blob_writer_lost"),
  });
  const bytes: BlobBytes = mark === null ? new BlobParts(store) : new BlobFiles(root, mark, writer);
  const hasFile = async (name: BlobName) => await bytes.sizeBytesOf!(name) !== null;
  const areOurs = await mark?.isOurs(hasFile) ?? true;
  const freeDisk = new FreeDisk(
    measureFreeBytes ?? null,
    limits.mailMinFreeDiskBytes,
    undefined,
    MAIL_WAITS,
  );
  await freeDisk.refresh();
  const recent = new RecentWrites(store);
  const isRecent = (name: readonly string[]) => recent.stateOf(name) !== undefined;
  const onFailure = logSparsely(log, "blob_deletion_failed");
  const deletions = new Deletions({ store, commits, leases, bytes, isRecent, onFailure });
  const orphans = new Orphans({ store, leases, bytes, deletions, isRecent });

  const stopping = new AbortController();
  const logStopped = (error: unknown) => log("blob_sweep_stopped", describeFailure(error));
  const sweep = async (): Promise<void> => {
    // In this order, or what is due would be found and scheduled once more.
    await deletions.run();
    if (areOurs) await orphans.run();
  };
  let background: Promise<unknown> = Promise.resolve();
  return {
    notes: areOurs ? [] : [startupNote("mail files", leftAlone(root))],
    blobs: new BlobStore({ store, records, bytes, recent, freeDisk, log }),
    start() {
      const look = async () => {
        await sweep().catch(logStopped);
        if (bytes.sizeBytesOf === undefined) return;
        // Behind the sweep: what was dropped is missing in a copy of the bytes, and soon in the store.
        const sizeBytesOf = bytes.sizeBytesOf.bind(bytes);
        await reportMissingBytes({ store, sizeBytesOf, log, stopped: stopping.signal });
      };
      background = look().catch(logStopped);
    },
    async everyMinute() {
      await sweep();
    },
    async close() {
      stopping.abort();
      await Promise.all([deletions.close(), orphans.close()]);
      await background;
      writer.close();
    },
  };
}
