/** What a secret that is sealed under a custody key looks like in the store, and which keys are named there. */
import type { Transaction } from "../storage/commits/group_commit.ts";
import type { Rows } from "../storage/rows/rows.ts";
import type { SealedSecret } from "./key_ring.ts";
import { defineRow } from "../storage/rows/row_key.ts";

/** A row that is one sealed secret; a record, since resealing and erasing race. */
export interface SealedRow extends SealedSecret {
  v: 1;
  /** Attempt that wrote the row, where it was rewritten. */
  attempt?: string;
}

export interface KeyMark {
  v: 1;
  /** When a secret was last sealed under the key, unix ms. */
  sealedAtMs: number;
}
export const keyMarkKey = defineRow<[keyId: string]>(["custody-key"], 1, {
  holds: "stands while a row may name this custody key",
});

/** Marks a key, in the commit that stores what was sealed under it. */
export function stageKeyMark(transaction: Transaction, keyId: string): void {
  transaction.set(keyMarkKey(keyId), { v: 1, sealedAtMs: transaction.nowMs } satisfies KeyMark);
}

/** Ids of the custody keys that rows of the store may name. */
export async function listMarkedKeys(store: Rows): Promise<string[]> {
  const marks = await store.list({ prefix: keyMarkKey.under() });
  return marks.map(({ key }) => key[1] as string);
}
