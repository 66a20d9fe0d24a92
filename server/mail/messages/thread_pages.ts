/** Pages of an inbox's threads, those with the newest message first (mail page, "Lists, polling, search"). */
import { Buffer } from "node:buffer";
import { BoundedPage } from "../../http/bounded_page.ts";
import { listRows } from "../../storage/list_rows.ts";
import { readRows } from "../../storage/read_rows.ts";
import type { Store } from "../../storage/store.ts";
import { threadKey, threadOrderKey, type ThreadRow } from "../records/thread_record.ts";
import { type Messages, rangeBehind } from "./messages.ts";
import { shownThread } from "./shown_message.ts";

export interface ThreadQuery {
  filters: { unread: boolean; label?: string };
  /** Id of the last message of the thread behind which the page begins; null for the first page. */
  after: string | null;
  limit: number;
}

export interface ThreadPage {
  /** Finished JSON, each of one thread. */
  json: string[];
  /** Where it ended, as `after` takes it. */
  position: string | null;
  more: boolean;
}

/** Threads that a page looks at, most of which a filter may leave out. */
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
    const { store: { kv }, pageBytes } = this.services;
    const prefix = threadOrderKey(orgId, inboxId, "").slice(0, -1);
    const page = new BoundedPage<string>({
      limit: query.limit,
      maxBytes: pageBytes,
      sizeOf: (json) => Buffer.byteLength(json),
    });
    let position = query.after;
    let more = true;
    for (let looked = 0; looked < THREADS_A_PAGE && more && !page.hasMore;) {
      const selector = rangeBehind(prefix, position, true);
      const limit = Math.min(THREADS_AT_ONCE, query.limit + 1);
      const rows = await listRows<{ threadId: string }>(kv, selector, { limit, reverse: true });
      more = rows.length === limit;
      looked += rows.length;
      const keys = rows.map(({ value }) => threadKey(orgId, inboxId, value.threadId));
      const threads: (ThreadRow | null)[] = [];
      for await (const some of readRows<ThreadRow>(kv, keys)) {
        threads.push(...some.map(({ value }) => value));
      }
      for (const [i, { key }] of rows.entries()) {
        const thread = threads[i]!;
        if (thread !== null && await this.#matches(thread, query.filters)) {
          page.add([JSON.stringify(shownThread(thread))]);
          if (page.hasMore) break; // left out: the next page begins with it
        }
        position = key.at(-1) as string;
      }
    }
    return { json: page.rows, position, more: more || page.hasMore };
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
