/** Index rows of what a process of a former version has changed, which does not know this index. */
import { retryWhileLocked } from "../storage/lock_retry.ts";
import { indexKeyOf, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

/**
 * Takes an index row away that does not say where its row is found.
 * @returns false where it does
 */
export async function dropStaleIndex(kv: Deno.Kv, indexKey: Deno.KvKey): Promise<boolean> {
  const id = indexKey.at(-1) as string;
  return await retryWhileLocked(async () => {
    const found = await kv.get<OutgoingRow>(outgoingKey(id));
    if (found.value !== null && isSame(indexKeyOf(id, found.value), indexKey)) return false;
    await kv.atomic().check(found).delete(indexKey).commit();
    return true;
  });
}

function isSame(one: Deno.KvKey, other: Deno.KvKey): boolean {
  return one.length === other.length && one.every((part, i) => part === other[i]);
}
