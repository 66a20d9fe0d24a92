/**
 * Rotation of the custody key: what older keys encrypted is re-encrypted under the first, in the
 * background after start-up. Rows that are done are skipped, so that it goes on where it was stopped.
 */
import type { Rows } from "../storage/rows/rows.ts";
import type { GroupCommit } from "../storage/commits/group_commit.ts";
import type { KeyRing } from "./key_ring.ts";
import {
  type KeyMark,
  keyMarkKey,
  listMarkedKeys,
  type SealedRow,
  stageKeyMark,
} from "./sealed_rows.ts";

/** A kind of sealed rows: [prefix, id]. */
export interface SealedRows {
  prefix: Deno.KvKey;
  /** What the secret of a row is bound to. */
  boundTo(key: Deno.KvKey): Promise<Uint8Array>;
}

const ROWS_A_PAGE = 100;
/** Passes while other relays go on sealing under an older key. */
const MAX_PASSES = 5;

export interface Resealing {
  store: Rows;
  commits: GroupCommit;
  ring: KeyRing;
  rows: readonly SealedRows[];
  stopped: AbortSignal;
}

/**
 * Seals again every row that names another configured key than the first. Then deletes those key ids
 * from the store: an operator may drop these keys from the configuration.
 */
export async function resealRows(options: Resealing): Promise<number | null> {
  const { store, ring, rows, stopped } = options;
  let count: number | null = null;
  for (let pass = 0; pass < MAX_PASSES && !stopped.aborted; pass++) {
    const outdated = (await listMarkedKeys(store))
      .filter((keyId) => keyId !== ring.primaryId && ring.has(keyId));
    if (ring.primaryId === null || outdated.length === 0) break;
    const marks = await Promise.all(
      outdated.map((keyId) => store.get<KeyMark>(keyMarkKey(keyId))),
    );
    count ??= 0;
    let failed = 0;
    for (const kind of rows) {
      const done = await resealKind(options, kind);
      count += done.sealed;
      failed += done.failed;
    }
    if (stopped.aborted) break;
    if (failed > 0) throw new Error(`${failed} keys could not be encrypted anew`);
    // A relay that still seals under an older key renews its mark: then one more pass is needed.
    for (const mark of marks) {
      await store.transact(async (transaction) => {
        const { versionstamp } = await transaction.get(mark.key);
        if (versionstamp === mark.versionstamp) transaction.delete(mark.key);
      });
    }
  }
  return count;
}

/** One damaged row must not keep the others from being resealed. */
async function resealKind(
  options: Resealing,
  kind: SealedRows,
): Promise<{ sealed: number; failed: number }> {
  const { store, ring, stopped } = options;
  let sealed = 0;
  let failed = 0;
  const pages = store.batches<SealedRow>({ prefix: kind.prefix }, { batchSize: ROWS_A_PAGE });
  for await (const page of pages) {
    if (stopped.aborted) break;
    const due = page.filter(({ value }) => value.keyId !== ring.primaryId && ring.has(value.keyId));
    const done = await Promise.allSettled(due.map(({ key }) => resealRow(options, kind, key)));
    for (const outcome of done) {
      if (outcome.status === "rejected") failed++;
      else if (outcome.value) sealed++;
    }
  }
  return { sealed, failed };
}

async function resealRow(
  { commits, ring }: Resealing,
  kind: SealedRows,
  key: Deno.KvKey,
): Promise<boolean> {
  const boundTo = await kind.boundTo(key);
  return await commits.submit((transaction) => {
    const row = transaction.record<SealedRow>(key);
    // Exported, sealed by another relay, or sealed under a key that only others have.
    if (row === null || row.keyId === ring.primaryId || !ring.has(row.keyId)) return false;
    const sealed = ring.seal(ring.open(row, boundTo), boundTo);
    transaction.putRecord<SealedRow>(key, { v: 1, ...sealed });
    stageKeyMark(transaction, sealed.keyId);
    return true;
  });
}
