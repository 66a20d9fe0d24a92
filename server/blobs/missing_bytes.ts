/**
 * Looks once after a start whether every kept blob has its bytes: after a restore of two copies that do
 * not fit together, the operator hears of it before readers do. Slow on purpose, and only reading.
 */
import type { Log } from "../deps.ts";
import { listRows } from "../storage/list_rows.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import { blobNameOf, type BlobRow, deletionOf, type DeletionRow } from "./blob_rows.ts";
import { type BlobName, nameText } from "./blob_name.ts";

const ROWS_A_STEP = 100;
const PAUSE_MS = 10;

export interface MissingBytesOptions {
  kv: Deno.Kv;
  /** Size of a blob's bytes, null where there are none. */
  sizeBytesOf: (name: BlobName) => Promise<number | null>;
  log: Log;
  stopped: AbortSignal;
}

/** Logs `blobs_missing` with how many are missing or of another size, and one of them; nothing where all are there. */
export async function tellOfMissingBytes(options: MissingBytesOptions): Promise<void> {
  const { kv, log, stopped } = options;
  const prefix = ["blob"];
  const counts = { checked: 0, missing: 0, other_size: 0 };
  let example: string | null = null;
  let start: Deno.KvKey | undefined;
  while (!stopped.aborted) {
    const selector = start === undefined ? { prefix } : { prefix, start };
    const rows = await listRows<BlobRow>(kv, selector, { limit: ROWS_A_STEP });
    const odd: { key: Deno.KvKey; fault: Fault }[] = [];
    for (const row of rows) {
      if (stopped.aborted) return;
      counts.checked++;
      const fault = await faultOf(row, options);
      if (fault !== null) odd.push({ key: row.key, fault });
    }
    for (const { key, fault } of odd.length === 0 ? [] : await withoutDropped(kv, odd)) {
      counts[fault]++;
      example ??= nameText(blobNameOf(key));
    }
    if (rows.length < ROWS_A_STEP) break;
    start = [...rows.at(-1)!.key, 0];
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  if (counts.missing + counts.other_size > 0) log("blobs_missing", { ...counts, example });
}

type Fault = "missing" | "other_size";

async function faultOf(
  { key, value }: Deno.KvEntry<BlobRow>,
  { sizeBytesOf }: MissingBytesOptions,
): Promise<Fault | null> {
  const sizeBytes = await sizeBytesOf(blobNameOf(key));
  if (sizeBytes === value.sizeBytes) return null;
  return sizeBytes === null ? "missing" : "other_size";
}

/**
 * Those that are kept still. A blob that was dropped has its row until its bytes are gone, and for a moment
 * after that: its row of the deletion index goes with it, so that this is read first.
 */
async function withoutDropped<T extends { key: Deno.KvKey }>(
  kv: Deno.Kv,
  found: readonly T[],
): Promise<T[]> {
  const deletions = await listRows<DeletionRow>(kv, { prefix: ["blob-deletion"] });
  const dropped = new Set(
    deletions.filter(({ value }) => value.dropped).map(({ key }) => nameText(deletionOf(key).name)),
  );
  const kept: T[] = [];
  for (const one of found) {
    if (dropped.has(nameText(blobNameOf(one.key)))) continue;
    const { value } = await retryWhileLocked(() => kv.get(one.key));
    if (value !== null) kept.push(one);
  }
  return kept;
}
