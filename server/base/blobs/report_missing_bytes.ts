/**
 * Looks once after a start whether every kept blob has its bytes: after a restore of two copies that do
 * not fit together, the operator hears of it before readers do. Slow on purpose, and only reading.
 */
import type { Log } from "../log.ts";
import type { Store } from "../storage/rows/store.ts";
import type { BlobBytes } from "./blob_bytes.ts";
import { nameText } from "./blob_name.ts";
import {
  blobKey,
  blobNameOf,
  type BlobRow,
  deletedNameOf,
  deletionKey,
  type DeletionRow,
} from "./blob_rows.ts";

const ROWS_A_STEP = 100;
const PAUSE_MS = 10;

/**
 * Logs `blobs_missing` with how many are missing or of another size, and one of them; nothing where all
 * are there.
 */
export async function reportMissingBytes(
  { store, bytes, log }: { store: Store; bytes: BlobBytes; log: Log },
  stopped: AbortSignal,
): Promise<void> {
  if (bytes.sizeBytesOf === undefined) return;
  const counts = { checked: 0, missing: 0, other_size: 0 };
  let example: string | null = null;
  let dropped: ReadonlySet<string> | undefined;
  const rows = store.batches<BlobRow>({ prefix: blobKey.under() }, { batchSize: ROWS_A_STEP });
  for await (const some of rows) {
    for (const { key, value } of some) {
      if (stopped.aborted) return;
      counts.checked++;
      const sizeBytes = await bytes.sizeBytesOf(blobNameOf(key));
      if (sizeBytes === value.sizeBytes) continue;
      // Read once, and before the row is read again: bytes go an hour after they were dropped.
      dropped ??= await droppedBlobs(store);
      const name = nameText(blobNameOf(key));
      if (dropped.has(name) || (await store.get(key)).value === null) continue;
      counts[sizeBytes === null ? "missing" : "other_size"]++;
      example ??= name;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  if (example !== null) log("blobs_missing", { ...counts, example });
}

/** Names of blobs that were dropped: their rows stand until the bytes are gone, and a moment longer. */
async function droppedBlobs(store: Store): Promise<ReadonlySet<string>> {
  const rows = await store.list<DeletionRow>({ prefix: deletionKey.under() }, {
    take: ({ value }) => value.dropped === true,
  });
  return new Set(rows.map(({ key }) => nameText(deletedNameOf(key))));
}
