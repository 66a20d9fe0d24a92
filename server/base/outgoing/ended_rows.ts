/** Finds rows whose time is over, by the index of ends alone. */
import type { Store } from "../storage/rows/store.ts";
import { endKey, outgoingKey, type OutgoingRow } from "./outgoing_row.ts";

/** Rows found at a time. */
const AT_ONCE = 100;

/**
 * Rows that nobody holds and whose time is over.
 * @param isOurs rows that this process attempts; they end by themselves
 * @returns whether there may be more of them
 */
export async function findEnded(
  store: Store,
  nowMs: number,
  isOurs: (id: string) => boolean,
): Promise<{ rows: { id: string; row: OutgoingRow }[]; hasMore: boolean }> {
  const selector = { prefix: endKey.under(), end: endKey.under(nowMs + 1) };
  const entries = await store.list(selector, {
    limit: AT_ONCE,
    take: ({ key }) => !isOurs(key[2] as string),
  });
  const rows: { id: string; row: OutgoingRow }[] = [];
  const ids = entries.map(({ key }) => key[2] as string);
  const found = await store.getMany<OutgoingRow[]>(ids.map(outgoingKey));
  for (const [i, { key }] of entries.entries()) {
    const id = ids[i]!;
    const row = found[i]!.value;
    if (row === null || row.endsAtMs !== key[1]) await dropStaleEnd(store, key);
    else if (row.lease === null && row.dueMs <= nowMs) rows.push({ id, row });
  }
  return { rows, hasMore: entries.length === AT_ONCE };
}

/** Removes an index row of an end unless its row ends then: a former version has changed the row. */
async function dropStaleEnd(store: Pick<Store, "transact">, key: Deno.KvKey): Promise<void> {
  const id = key.at(-1) as string;
  await store.transact(async (transaction) => {
    const { value } = await transaction.get<OutgoingRow>(outgoingKey(id));
    if (value?.endsAtMs !== key[1]) transaction.delete(key);
  });
}
