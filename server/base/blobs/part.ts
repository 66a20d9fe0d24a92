/** The blob store as a part of the relay: in files or in the store, with its sweep. */
import { join } from "node:path";
import { startupNote } from "../config/startup_notes.ts";
import { describeFailure } from "../describe_failure.ts";
import { logSparsely } from "../log_sparsely.ts";
import type { Core } from "../parts/core.ts";
import type { Part } from "../parts/part.ts";
import { FreeDisk } from "../storage/free_disk.ts";
import type { StorageOptions } from "../storage/part.ts";
import { BlobFiles } from "./blob_files.ts";
import { BlobParts } from "./blob_parts.ts";
import { BlobSweep } from "./blob_sweep.ts";
import { BlobWriter, blobWriterIn } from "./blob_writer.ts";
import { Blobs } from "./blobs.ts";
import { RecentWrites } from "./recent_writes.ts";
import { reportMissingBytes } from "./report_missing_bytes.ts";
import { StoreMark } from "./store_mark.ts";

const FOLDER = "mail";

/** The folder of all blobs, below the data folder; not used where the store is hosted. */
export const blobFolder = (dataDir: string): string => join(dataDir, FOLDER);

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
  const root = blobFolder(config.dataDir);
  const mark = new StoreMark(store, root);
  const writer = new BlobWriter({
    start: blobWriterIn(root),
    onLoss: logSparsely(log, "blob_writer_lost"),
  });
  const files = config.hosted ? null : new BlobFiles(root, mark, writer);
  const areOurs = files === null || await mark.isOurs(files);
  const bytes = files ?? new BlobParts(store);
  const freeDisk = new FreeDisk(
    measureFreeBytes ?? null,
    limits.mailMinFreeDiskBytes,
    undefined,
    MAIL_WAITS,
  );
  await freeDisk.refresh();
  const recent = new RecentWrites(store);
  const sweep = new BlobSweep({ store, commits, leases, log, bytes, recent, areOurs });
  const stopping = new AbortController();
  let background: Promise<unknown> = Promise.resolve();
  return {
    notes: areOurs ? [] : [startupNote("mail files", leftAlone(root))],
    blobs: new Blobs({ store, records, bytes, recent, freeDisk, log }),
    start() {
      const logStopped = (error: unknown) => log("blob_sweep_stopped", describeFailure(error));
      background = sweep.run().catch(logStopped)
        // Behind the sweep: what was dropped is missing in a copy of the bytes, and soon in the store.
        .then(() => reportMissingBytes({ store, bytes, log }, stopping.signal)).catch(logStopped);
    },
    everyMinute: () => sweep.run(),
    async close() {
      stopping.abort();
      await sweep.close();
      await background;
      writer.close();
    },
  };
}
