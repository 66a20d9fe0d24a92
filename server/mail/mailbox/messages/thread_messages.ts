/** Pages of a thread's messages with the beginnings of their texts. */
import type { Blobs } from "../../../base/blobs/blobs.ts";
import { BoundedPage } from "../../../base/http/fields/bounded_page.ts";
import type { ShownHead } from "../../reading/parsed/encoded_texts.ts";
import type { MessageRow } from "../../records/message_record.ts";
import type { ThreadRow } from "../../records/thread_record.ts";
import type { InFlight, SendsInFlight } from "../statuses/sends_in_flight.ts";
import type { Messages } from "./messages.ts";
import { readHead } from "./read_head.ts";

export interface ThreadMessagesQuery<Entry> {
  order: "asc" | "desc";
  /** Id behind which the page begins, in its order; null for the first page. */
  after: string | null;
  limit: number;
  maxBytes: number;
  sizeOf(entry: Entry): number;
  /**
   * @param head null where its bytes are damaged
   * @param now who is being sent to
   */
  make(row: MessageRow, head: ShownHead | null, now: InFlight): Entry;
}

export interface ThreadMessagesPage<Entry> {
  rows: MessageRow[];
  entries: Entry[];
  /** Id behind which there is more; null where there is not. */
  next: string | null;
}

/** Heads read at a time, some 128 KiB each. */
const HEADS_AT_ONCE = 10;

export async function readThreadMessages<Entry>(
  { messages, blobs, inFlight }: {
    messages: Messages;
    blobs: Pick<Blobs, "read">;
    inFlight: Pick<SendsInFlight, "of">;
  },
  { orgId, inboxId, id }: Pick<ThreadRow, "orgId" | "inboxId" | "id">,
  { order, after, limit, maxBytes, sizeOf, make }: ThreadMessagesQuery<Entry>,
): Promise<ThreadMessagesPage<Entry>> {
  const ids = await messages.indexed(orgId, inboxId, ["thread", id], {
    after,
    limit: limit + 1,
    newest: order === "desc",
  });
  const page = new BoundedPage<{ row: MessageRow; entry: Entry }>({
    limit,
    maxBytes,
    sizeOf: ({ entry }) => sizeOf(entry),
  });
  for (let at = 0; at < ids.length && !page.hasMore; at += HEADS_AT_ONCE) {
    const rows = await messages.readAll(orgId, inboxId, ids.slice(at, at + HEADS_AT_ONCE));
    const heads = await Promise.all(rows.map((row) => readHead({ blobs }, row)));
    const shown = await inFlight.of(rows);
    page.add(shown.rows.map((row, i) => ({ row, entry: make(row, heads[i]!, shown.now) })));
  }
  return {
    rows: page.rows.map(({ row }) => row),
    entries: page.rows.map(({ entry }) => entry),
    next: page.hasMore ? page.rows.at(-1)!.row.id : null,
  };
}
