/**
 * Removes index rows that are outdated because a process of a former version, which does not know
 * this index, changed their rows.
 */
import type { Store } from "../storage/store.ts";
import { indexKeyOf, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

/**
 * Removes an index row unless its row is found by it.
 * @returns false when the row is found by it
 */
export async function dropStaleIndex(
  store: Pick<Store, "transact">,
  indexKey: Deno.KvKey,
): Promise<boolean> {
  const id = indexKey.at(-1) as string;
  return await store.transact(async (transaction) => {
    const { value } = await transaction.get<OutgoingRow>(outgoingKey(id));
    if (value !== null && isSame(indexKeyOf(id, value), indexKey)) return false;
    transaction.delete(indexKey);
    return true;
  });
}

/** Removes an index row of an end unless its row ends then. */
export async function dropStaleEnd(
  store: Pick<Store, "transact">,
  endKey: Deno.KvKey,
): Promise<void> {
  const id = endKey.at(-1) as string;
  await store.transact(async (transaction) => {
    const { value } = await transaction.get<OutgoingRow>(outgoingKey(id));
    if (value?.endsAtMs !== endKey[1]) transaction.delete(endKey);
  });
}

function isSame(one: Deno.KvKey, other: Deno.KvKey): boolean {
  return one.length === other.length && one.every((part, i) => part === other[i]);
}
