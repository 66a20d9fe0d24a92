/**
 * Removes index rows that are outdated because a process of a former version, which does not know
 * this index, changed their rows.
 */
import { retryWhileLocked } from "../storage/lock_retry.ts";
import { indexKeyOf, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

/**
 * Removes an index row unless its row is found by it.
 * @returns false when the row is found by it
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

/** Removes an index row of an end unless its row ends then. */
export async function dropStaleEnd(kv: Deno.Kv, endKey: Deno.KvKey): Promise<void> {
  const id = endKey.at(-1) as string;
  await retryWhileLocked(async () => {
    const found = await kv.get<OutgoingRow>(outgoingKey(id));
    if (found.value !== null && found.value.endsAtMs === endKey[1]) return;
    await kv.atomic().check(found).delete(endKey).commit();
  });
}

function isSame(one: Deno.KvKey, other: Deno.KvKey): boolean {
  return one.length === other.length && one.every((part, i) => part === other[i]);
}
