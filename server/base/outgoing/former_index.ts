/**
 * The index of former versions, which held all rows by due time alone. Its rows are moved, nine in a
 * commit, while deliveries go on. Another process of a former version may write to it again.
 */
import type { Row } from "../storage/rows/rows.ts";
import type { Store } from "../storage/rows/store.ts";
import {
  formerDueKey,
  type FormerDueRow,
  INDEX_ROW,
  indexKeyOf,
  outgoingKey,
  type OutgoingRow,
} from "./outgoing_row.ts";

type Moved = (indexKey: Deno.KvKey, row: OutgoingRow) => void;

/** A shared store checks as many rows of a transaction at a time. */
const AT_ONCE = 9;

/** Moves what the former index holds. @param moved called for each row, with its new index key */
export async function moveFormerIndex(store: Store, moved: Moved): Promise<void> {
  const prefix = formerDueKey.under();
  let selector: Deno.KvListSelector = { prefix };
  for (;;) {
    const entries: Row<FormerDueRow>[] = await store.list(selector, { limit: AT_ONCE });
    if (entries.length === 0) return;
    const found = await moveSome(store, entries);
    for (const { id, row } of found) moved(indexKeyOf(id, row), row);
    // Goes on after these even if a row changed meanwhile: the next look finds the rows that stay.
    selector = { prefix, start: [...entries.at(-1)!.key, true] };
  }
}

/** @returns the rows that were there */
function moveSome(
  store: Store,
  entries: readonly Row<FormerDueRow>[],
): Promise<{ id: string; row: OutgoingRow }[]> {
  const ids = entries.map(({ key }) => key[2] as string);
  return store.transact(async (transaction) => {
    const rows = await transaction.getMany<OutgoingRow[]>(ids.map(outgoingKey));
    const found: { id: string; row: OutgoingRow }[] = [];
    for (const [i, { key }] of entries.entries()) {
      const [id, row] = [ids[i]!, rows[i]!.value];
      transaction.delete(key);
      if (row === null) continue;
      found.push({ id, row });
      if (row.dueMs === key[1]) transaction.set(indexKeyOf(id, row), INDEX_ROW);
    }
    return found;
  });
}
