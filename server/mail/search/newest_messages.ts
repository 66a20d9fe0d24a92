/** Messages of several inboxes as one list, the newest first. */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { rangeBehind } from "../mailbox/messages/messages.ts";
import { messageKey, type MessageRow } from "../records/message_record.ts";

/** Rows of one read of an inbox, and of all reads held at the same time. */
const ROWS_A_READ = 25;
const ROWS_HELD = 250;

/**
 * @param after id behind which the list begins; null for the newest
 */
export async function* newestMessages(
  store: Rows,
  orgId: string,
  inboxIds: readonly string[],
  after: string | null,
): AsyncGenerator<MessageRow> {
  const limit = Math.max(1, Math.min(ROWS_A_READ, Math.floor(ROWS_HELD / inboxIds.length)));
  const read = async (inboxId: string, behind: string | null): Promise<MessageRow[]> => {
    const prefix = messageKey.under(orgId, inboxId);
    const selector = rangeBehind(prefix, behind, true);
    const rows = await store.list<MessageRow>(selector, { limit, reverse: true });
    return rows.map(({ value }) => value).reverse(); // the newest is taken from the end
  };
  const lists: MessageRow[][] = [];
  for (const inboxId of inboxIds) {
    const rows = await read(inboxId, after);
    if (rows.length > 0) lists.push(rows);
  }
  for (;;) {
    let newest: MessageRow[] | undefined;
    for (const list of lists) {
      if (newest === undefined || list.at(-1)!.id > newest.at(-1)!.id) newest = list;
    }
    if (newest === undefined) return;
    const row = newest.pop()!;
    yield row;
    if (newest.length > 0) continue;
    newest.push(...await read(row.inboxId, row.id));
    if (newest.length === 0) lists.splice(lists.indexOf(newest), 1);
  }
}
