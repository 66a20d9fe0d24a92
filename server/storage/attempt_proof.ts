/** Which attempt wrote a row: after an unclear commit only that tells whether it was ours. */
import { retryWhileLocked } from "./lock_retry.ts";
import type { Store } from "./store.ts";
import { readRows } from "./read_rows.ts";

/** What every proof row of a job holds beside its own. */
interface ProofRow {
  attempt?: string;
}

/**
 * The versionstamp of the first of these rows that an attempt wrote, or null. One is enough: what a
 * group writes is stored whole or not at all, but a record among the proofs may have been
 * overwritten since.
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
