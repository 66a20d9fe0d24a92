/**
 * Pages of an inbox's threads, those with the newest message first (docs/mail.md, "Threads").
 *
 * A thread lies in the order by its last message, so that an answer moves it to the top: above where
 * one pages downwards, who would then never see it. Pages therefore come in passes. At the end of one,
 * the next goes over what has come above its beginning meanwhile, until nothing has.
 */
import { Buffer } from "node:buffer";
import { BoundedPage } from "../../../base/http/fields/bounded_page.ts";
import type { CursorKey } from "../../../base/http/fields/cursors.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { threadKey, threadOrderKey, type ThreadRow } from "../../records/thread_record.ts";
import type { Messages } from "./messages.ts";
import { shownThread } from "../shown/shown_message.ts";

/** A place in a pass, as ids of last messages. */
export interface ThreadPosition {
  /** Behind this one the next page begins; null: the pass begins. */
  after: string | null;
  /** What the pass began with; null before it has. */
  top: string | null;
  /** What lies here and below is none of the pass's; null where all is. */
  floor: string | null;
}

/** A position as the key of a cursor, "" for null. */
export function keyOfPosition({ after, top, floor }: ThreadPosition): CursorKey {
  return [after ?? "", top ?? "", floor ?? ""];
}

export function positionOf(key: CursorKey): ThreadPosition {
  const [after, top, floor] = key.map((id) => id === "" ? null : id as string);
  return { after: after!, top: top!, floor: floor! };
}

export interface ThreadQuery {
  filters: { unread: boolean; label?: string };
  /** Where the page before ended; null for the first page. */
  after: ThreadPosition | null;
  limit: number;
}

export interface ThreadPage {
  /** Finished JSON, each of one thread. */
  json: string[];
  /** Where it ended, as `after` takes it; null where no page follows. */
  next: ThreadPosition | null;
}

const BEGINNING: ThreadPosition = { after: null, top: null, floor: null };

/** Threads that a page looks at; a filter may leave out most of them. */
const THREADS_A_PAGE = 500;
const THREADS_AT_ONCE = 100;

export interface ThreadPagesServices {
  store: Store;
  messages: Messages;
  pageBytes: number;
}

export class ThreadPages {
  constructor(private readonly services: ThreadPagesServices) {}

  async read(orgId: string, inboxId: string, query: ThreadQuery): Promise<ThreadPage> {
    const { store, pageBytes } = this.services;
    const prefix = threadOrderKey.under(orgId, inboxId);
    const page = new BoundedPage<string>({
      limit: query.limit,
      maxBytes: pageBytes,
      sizeOf: (json) => Buffer.byteLength(json),
    });
    let { after, top, floor } = query.after ?? BEGINNING;
    let isOver = false;
    for (let looked = 0; looked < THREADS_A_PAGE && !isOver && !page.hasMore;) {
      const limit = Math.min(THREADS_AT_ONCE, query.limit + 1);
      const rows = await store.list<{ threadId: string }>(between(prefix, floor, after), {
        limit,
        reverse: true,
      });
      isOver = rows.length < limit;
      looked += rows.length;
      top ??= rows[0]?.key.at(-1) as string | undefined ?? null;
      const keys = rows.map(({ value }) => threadKey(orgId, inboxId, value.threadId));
      const threads = await store.getMany<ThreadRow[]>(keys);
      for (const [i, { key }] of rows.entries()) {
        const thread = threads[i]!.value;
        if (thread !== null && await this.#matches(thread, query.filters)) {
          page.add([JSON.stringify(shownThread(thread))]);
          if (page.hasMore) break; // left out: the next page begins with it
        }
        after = key.at(-1) as string;
      }
    }
    if (!isOver || page.hasMore) return { json: page.rows, next: { after, top, floor } };
    const reached = top ?? floor;
    const above = await store.list(between(prefix, reached, null), { limit: 1 });
    const next = above.length === 0 ? null : { after: null, top: null, floor: reached };
    return { json: page.rows, next };
  }

  async #matches(thread: ThreadRow, { unread, label }: ThreadQuery["filters"]): Promise<boolean> {
    if (unread && thread.unreadCount === 0) return false;
    if (label === undefined) return true;
    const { orgId, inboxId, id } = thread;
    const found = await this.services.messages.indexed(orgId, inboxId, [
      "thread-label",
      id,
      label,
    ], { limit: 1, newest: false });
    return found.length > 0;
  }
}

/** Order rows above `floor` and below `after`. */
function between(
  prefix: Deno.KvKey,
  floor: string | null,
  after: string | null,
): Deno.KvListSelector {
  const start = floor === null ? undefined : [...prefix, `${floor}\u0000`];
  if (after === null) return start === undefined ? { prefix } : { prefix, start };
  const end = [...prefix, after];
  return start === undefined ? { prefix, end } : { start, end };
}
