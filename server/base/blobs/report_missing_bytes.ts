/**
 * Looks once after a start whether every kept blob has its bytes: after a restore of two copies that do
 * not fit together, the operator hears of it before readers do. Slow on purpose, and only reading.
 */
import type { Log } from "../log.ts";
import type { Row } from "../storage/rows/rows.ts";
import type { Store } from "../storage/rows/store.ts";
import {
  blobKey,
  blobNameOf,
  type BlobRow,
  deletionKey,
  deletionOf,
  type DeletionRow,
} from "./blob_rows.ts";
import { type BlobName, nameText } from "./blob_name.ts";

const ROWS_A_STEP = 100;
const PAUSE_MS = 10;

export interface MissingBytesOptions {
  store: Pick<Store, "get" | "list" | "batches">;
  /** Size of a blob's bytes, null where there are none. */
  sizeBytesOf: (name: BlobName) => Promise<number | null>;
  log: Log;
  stopped: AbortSignal;
}

/** Logs `blobs_missing` with how many are missing or of another size, and one of them; nothing where all are there. */
export async function reportMissingBytes(options: MissingBytesOptions): Promise<void> {
  const { store, log, stopped } = options;
  const counts = { checked: 0, missing: 0, other_size: 0 };
  let example: string | null = null;
  let dropped: ReadonlySet<string> | undefined;
  for await (
    const rows of store.batches<BlobRow>({ prefix: blobKey.under() }, { batchSize: ROWS_A_STEP })
  ) {
    const odd: { key: Deno.KvKey; fault: Fault }[] = [];
    for (const row of rows) {
      if (stopped.aborted) return;
      counts.checked++;
      const fault = await faultOf(row, options);
      if (fault !== null) odd.push({ key: row.key, fault });
    }
    // Read once, and before the rows are read again: bytes go an hour after they were dropped.
    if (odd.length > 0) dropped ??= await droppedBlobs(store);
    for (const { key, fault } of odd) {
      const name = nameText(blobNameOf(key));
      if (dropped!.has(name)) continue;
      const row = await store.get(key);
      if (row.value === null) continue; // dropped and swept since it was listed
      counts[fault]++;
      example ??= name;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (stopped.aborted) break;
  }
  if (counts.missing + counts.other_size > 0) log("blobs_missing", { ...counts, example });
}

type Fault = "missing" | "other_size";

async function faultOf(
  { key, value }: Row<BlobRow>,
  { sizeBytesOf }: MissingBytesOptions,
): Promise<Fault | null> {
  const sizeBytes = await sizeBytesOf(blobNameOf(key));
  if (sizeBytes === value.sizeBytes) return null;
  return sizeBytes === null ? "missing" : "other_size";
}

/** Names of blobs that were dropped: their rows stand until the bytes are gone, and a moment longer. */
async function droppedBlobs(store: Pick<Store, "list">): Promise<ReadonlySet<string>> {
  const rows = await store.list<DeletionRow>({ prefix: deletionKey.under() }, {
    take: ({ value }) => value.dropped === true,
  });
  return new Set(rows.map(({ key }) => nameText(deletionOf(key).name)));
}
