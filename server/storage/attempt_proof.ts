/**
 * Tells which attempt wrote a row. After an unclear commit, only that says whether the commit was
 * ours.
 */
import { retryWhileLocked } from "./lock_retry.ts";
import type { Store } from "./store.ts";
import { readRows } from "./read_rows.ts";

/** What every proof row of a job holds, whatever else it holds. */
interface ProofRow {
  attempt?: string;
}

/**
 * The versionstamp of the first of these rows that an attempt wrote, or null. One row is enough,
 * since a group is stored whole or not at all. All are looked at, since a record among them may
 * have been overwritten since.
 */
export async function provenVersion(
  { kv }: Pick<Store, "kv">,
  proofs: readonly Deno.KvKey[],
  attempt: string,
): Promise<string | null> {
  for await (const rows of readRows<ProofRow>(kv, proofs)) {
    const mine = rows.find((row) => row.value?.attempt === attempt);
    if (mine?.versionstamp) return mine.versionstamp;
  }
  return null;
}

/** The attempt that wrote the row which now stands under a proof key. */
export async function attemptOf(
  { kv }: Pick<Store, "kv">,
  proof: Deno.KvKey,
): Promise<string | undefined> {
  return (await retryWhileLocked(() => kv.get<ProofRow>(proof))).value?.attempt;
}
