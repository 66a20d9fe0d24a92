/**
 * The undelivered messages of an inbox, with who wrote them. They are read in slices that are small
 * in bytes, without the parts of bodies that do not fit the first value. Callers stop when they
 * have read enough.
 */
import { inKey, type InRecord } from "../../mailboxes/agent_mailboxes.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { inboxKey } from "../rows/message_row.ts";
import { deliveredAlone, pollKey, type PollRecord } from "./poll_record.ts";
import { unreadGaps } from "./read_ranges.ts";
import { decodeRow } from "../rows/row_codec.ts";
import type { StoredMessages } from "../rows/stored_messages.ts";

/** Bytes of the rows that one slice aims at, and its rows. */
const SLICE_BYTES = 512 * 1024;
const MAX_SLICE = 200;

export interface UndeliveredServices {
  store: Store;
  records: RecordCache;
  messages: Pick<StoredMessages, "lowestRetainedId" | "isRetained">;
}

export interface UndeliveredSelection {
  /** Only messages with a greater id; 0 for all. */
  aboveId: number;
  /** The latest first, else the earliest. */
  newestFirst: boolean;
  /** Rows of the first slice: few for who may want one only. */
  firstSlice: number;
}

/** What one read found, and what it cost. */
export interface UndeliveredSlice {
  messages: { id: number; senderId: number; createdAtMs: number }[];
  rowsRead: number;
  bytesRead: number;
}

/** The undelivered retained messages of an agent, a slice at a time. */
export async function* scanUndelivered(
  { store, records, messages }: UndeliveredServices,
  agentId: number,
  { aboveId, newestFirst, firstSlice }: UndeliveredSelection,
): AsyncGenerator<UndeliveredSlice> {
  const inbox = await records.read<InRecord>(inKey(agentId));
  if (inbox === null || inbox.head === 0) return;
  const poll = await records.read<PollRecord>(pollKey(agentId));
  const nowMs = store.now();
  const first = Math.max(aboveId + 1, messages.lowestRetainedId(nowMs));
  const gaps = [...unreadGaps(poll?.read ?? [], first)]
    .map(([from, last]) => [from, Math.min(last, inbox.head)] as [number, number])
    .filter(([from, last]) => from <= last);
  if (newestFirst) gaps.reverse();
  let limit = firstSlice;
  for (let [from, last] of gaps) {
    while (from <= last) {
      const selector = { start: inboxKey(agentId, from), end: inboxKey(agentId, last + 1) };
      const rows = await store.list<Uint8Array>(selector, { limit, reverse: newestFirst });
      if (rows.length === 0) break;
      const found = rows.map(({ key, value }) => {
        const { senderId, createdAtMs } = decodeRow(value);
        return { id: key[2] as number, senderId, createdAtMs };
      });
      const bytesRead = rows.reduce((sum, { value }) => sum + value.length, 0);
      const delivered = poll?.overflow ? await deliveredAlone(store, agentId, found) : null;
      yield {
        messages: found.filter(({ id, createdAtMs }) =>
          messages.isRetained(createdAtMs, nowMs) && !delivered?.has(id)
        ),
        rowsRead: rows.length,
        bytesRead,
      };
      if (rows.length < limit) break;
      const edge = found.at(-1)!.id;
      if (newestFirst) last = edge - 1;
      else from = edge + 1;
      const wanted = Math.floor(SLICE_BYTES / (bytesRead / rows.length));
      limit = Math.min(Math.max(1, wanted), 2 * limit, MAX_SLICE);
    }
  }
}
