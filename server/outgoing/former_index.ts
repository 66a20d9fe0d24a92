/**
 * The index of former versions, which held all rows by due time alone. Its rows are moved, ten in a
 * commit, while deliveries go on. Another process of a former version may write to it again.
 */
import { listRows } from "../storage/list_rows.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";
import {
  FORMER_PREFIX,
  type FormerDueRow,
  INDEX_ROW,
  indexKeyOf,
  outgoingKey,
  type OutgoingRow,
} from "./outgoing_row.ts";

type Moved = (indexKey: Deno.KvKey, row: OutgoingRow) => void;

/** KV Connect reads ten keys, and checks as many, at a time. */
const AT_ONCE = 10;

/** Moves what the former index holds. @param moved called for each row, with its new index key */
export async function moveFormerIndex(kv: Deno.Kv, moved: Moved): Promise<void> {
  const prefix = [FORMER_PREFIX];
  let selector: Deno.KvListSelector = { prefix };
  for (;;) {
    const entries: Deno.KvEntry<FormerDueRow>[] = await listRows(kv, selector, { limit: AT_ONCE });
    if (entries.length === 0) return;
    await retryWhileLocked(() => moveSome(kv, entries, moved));
    // Goes on after these even if a row changed meanwhile: the next look finds the rows that stay.
    selector = { prefix, start: [...entries.at(-1)!.key, true] };
  }
}

async function moveSome(
  kv: Deno.Kv,
  entries: readonly Deno.KvEntry<FormerDueRow>[],
  moved: Moved,
): Promise<void> {
  const ids = entries.map(({ key }) => key[2] as string);
  const rows = await kv.getMany<OutgoingRow[]>(ids.map(outgoingKey));
  const operation = kv.atomic();
  for (const [i, { key }] of entries.entries()) {
    const row = rows[i] as Deno.KvEntryMaybe<OutgoingRow>;
    operation.check(row).delete(key);
    if (row.value !== null && row.value.dueMs === key[1]) {
      operation.set(indexKeyOf(ids[i]!, row.value), INDEX_ROW);
    }
  }
  const { ok } = await operation.commit();
  if (!ok) return;
  for (const [i, { value }] of rows.entries()) {
    if (value !== null) moved(indexKeyOf(ids[i]!, value), value);
  }
}
