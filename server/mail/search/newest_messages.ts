/** Messages of several inboxes as one list, the newest first. */
import type { Rows } from "../../base/storage/rows/rows.ts";
import { rangeBehind } from "../mailbox/messages/messages.ts";
import { messageKey, type MessageRow } from "../records/message_record.ts";

/** Rows of one read of an inbox, and of all reads held at the same time. */
const ROWS_A_READ = 25;
const ROWS_HELD = 250;

/** An inbox, and the id above which it is read; null for all of it. */
export interface ListedInbox {
  inboxId: string;
  knownTo: string | null;
}

/**
 * @param after id behind which the list begins; null for the newest
 */
export async function* newestMessages(
  store: Pick<Rows, "list">,
  orgId: string,
  inboxes: readonly ListedInbox[],
  after: string | null,
): AsyncGenerator<MessageRow> {
  const limit = Math.max(1, Math.min(ROWS_A_READ, Math.floor(ROWS_HELD / inboxes.length)));
  const read = async (inbox: ListedInbox, behind: string | null): Promise<MessageRow[]> => {
    const { inboxId, knownTo } = inbox;
    if (knownTo !== null && behind !== null && behind <= knownTo) return [];
    const prefix = messageKey.under(orgId, inboxId);
    const start = [...prefix, `${knownTo}\u0000`];
    const end = [...prefix, behind!];
    const selector = knownTo === null
      ? rangeBehind(prefix, behind, true)
      : behind === null
      ? { prefix, start }
      : { start, end };
    const rows = await store.list<MessageRow>(selector, { limit, reverse: true });
    return rows.map(({ value }) => value).reverse(); // the newest is taken from the end
  };
  const lists: { inbox: ListedInbox; rows: MessageRow[] }[] = [];
  for (const inbox of inboxes) {
    const rows = await read(inbox, after);
    if (rows.length > 0) lists.push({ inbox, rows });
  }
  for (;;) {
    let newest: (typeof lists)[0] | undefined;
    for (const list of lists) {
      if (newest === undefined || list.rows.at(-1)!.id > newest.rows.at(-1)!.id) newest = list;
    }
    if (newest === undefined) return;
    const row = newest.rows.pop()!;
    yield row;
    if (newest.rows.length > 0) continue;
    newest.rows.push(...await read(newest.inbox, row.id));
    if (newest.rows.length === 0) lists.splice(lists.indexOf(newest), 1);
  }
}
