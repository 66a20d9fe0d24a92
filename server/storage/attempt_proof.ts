/**
 * Tells which attempt wrote a row. After an unclear commit, only that says whether the commit was
 * ours.
 */
import type { Attempt, Job } from "./job.ts";
import { recordName } from "./record_cache.ts";
import type { Rows } from "./rows.ts";
import { readRows } from "./read_rows.ts";

/** The row by which one attempt of a job is known. */
export interface Proof {
  key: Deno.KvKey;
  attempt: string;
  /** No other attempt can write the row: that it is there is the proof. */
  isOwn: boolean;
}

/** What every other proof row of a job holds, whatever else it holds. */
interface ProofRow {
  attempt?: string;
}

export function proofOf({ proof }: Pick<Job<unknown>, "proof">, attempt: Attempt): Proof {
  const isOwn = typeof proof === "function";
  return { key: isOwn ? proof(attempt) : proof, attempt: attempt.attempt, isOwn };
}

function proves({ attempt, isOwn }: Proof, row: Deno.KvEntryMaybe<unknown>): boolean {
  if (isOwn) return row.versionstamp !== null;
  return (row.value as ProofRow | null)?.attempt === attempt;
}

/**
 * The versionstamp of the first of these rows that an attempt wrote, or null. One row is enough,
 * since a group is stored whole or not at all. All are looked at, since a record among them may
 * have been overwritten since.
 */
export async function provenVersion(
  store: Rows,
  proofs: readonly Proof[],
): Promise<string | null> {
  const rows = [...new Map(proofs.map((proof) => [recordName(proof.key), proof])).values()];
  let at = 0;
  for await (const some of readRows<unknown>(store, rows.map(({ key }) => key))) {
    for (const row of some) {
      if (proves(rows[at++]!, row)) return row.versionstamp;
    }
  }
  return null;
}

/** The first of these proofs whose row now stands in the store. */
export async function findProven<P extends Proof>(
  store: Rows,
  proofs: readonly P[],
): Promise<P | undefined> {
  const read = new Map<string, Deno.KvEntryMaybe<unknown>>();
  for (const proof of proofs) {
    const name = recordName(proof.key);
    const row = read.get(name) ?? await store.get(proof.key);
    read.set(name, row);
    if (proves(proof, row)) return proof;
  }
  return undefined;
}
