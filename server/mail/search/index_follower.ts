/** Brings the search index up with the store, an inbox at a time (docs/adr/0064). */
import type { Log } from "../../base/log.ts";
import type { FreeDisk } from "../../base/storage/free_disk.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Row, Rows } from "../../base/storage/rows/rows.ts";
import { rangeBehind } from "../mailbox/messages/messages.ts";
import { inboxKey, type InboxRecord } from "../records/inbox_record.ts";
import { messageKey, type MessageRow } from "../records/message_record.ts";
import { IndexFailed, type IndexWorkers } from "./index_workers.ts";
import { namesOf } from "./searched_text.ts";
import type { InboxGuard } from "./word_index.ts";
import type { MessageToIndex } from "./words_of.ts";

export interface FollowerOptions {
  store: Rows;
  records: Pick<RecordCache, "read" | "readMany">;
  workers: Pick<IndexWorkers, "write">;
  /** Guards as the index is to compare them. */
  guardsOf(inboxes: readonly InboxName[]): Promise<InboxGuard[]>;
  /** Folder of all blobs. */
  blobs: string;
  freeDisk: Pick<FreeDisk, "refresh" | "freeBytes">;
  /** Mail stops below; the index grows while twice as much is free, and goes before mail stops. */
  mailMinFreeDiskBytes: number;
  log: Log;
}

export interface InboxName {
  orgId: string;
  id: string;
}

export interface FollowedInbox {
  orgId: string;
  inboxId: string;
  /** Messages that are known to have gone. */
  removed: ReadonlySet<string> | undefined;
  /** Whether a commit has changed it since. */
  isChanging(): boolean;
}

const MESSAGES_A_JOB = 64;
const IDS_A_JOB = 500;
const INBOXES_A_JOB = 200;

export class IndexFollower {
  constructor(private readonly options: FollowerOptions) {}

  /** Inboxes that differ from what the index has, and those that are no more. */
  async *differing(): AsyncGenerator<InboxName> {
    const { store, records, workers, guardsOf } = this.options;
    const selector = { prefix: inboxKey.under() };
    for await (const some of store.batches<InboxRecord>(selector, { batchSize: INBOXES_A_JOB })) {
      const inboxes = some.map(({ value: { orgId, id } }) => ({ orgId, id }));
      const differ = new Set(await workers.write("compare", await guardsOf(inboxes)));
      yield* inboxes.filter(({ id }) => differ.has(id));
    }
    for (let after = 0;;) {
      const some = await workers.write("list", after, INBOXES_A_JOB);
      if (some.length === 0) break;
      const there = await records.readMany(some.map(({ orgId, id }) => inboxKey(orgId, id)));
      yield* some.filter((_, i) => there[i] === null);
      after = some.at(-1)!.no;
    }
  }

  /**
   * Brings the index up with one inbox.
   * @returns whether it forgot an inbox, whose words are to be erased
   */
  async follow({ orgId, inboxId, removed, isChanging }: FollowedInbox): Promise<boolean> {
    const { records, workers, guardsOf, log } = this.options;
    if (await records.read(inboxKey(orgId, inboxId)) === null) {
      await workers.write("drop", inboxId);
      return true;
    }
    // The guard before its rows.
    const [guard] = await guardsOf([{ orgId, id: inboxId }]);
    const { knownTo, isAnew } = await workers.write("begin", orgId, guard!);
    if (removed !== undefined) await workers.write("remove", inboxId, [...removed]);
    await this.#add(orgId, inboxId, knownTo);
    const { messages } = await workers.write("settle", guard!);
    // What has changed meanwhile comes with the next round, and so does what is missing then.
    if (messages === guard!.messages || isChanging()) return isAnew;
    if (await this.#retain(orgId, inboxId, guard!.headId!)) return isAnew;
    log("mail_index_inbox_anew", { inbox_id: inboxId });
    await workers.write("drop", inboxId); // the next search, or the next commit, has it begun anew
    return true;
  }

  /** Reads the messages behind an id into the index. */
  async #add(orgId: string, inboxId: string, knownTo: string | null): Promise<void> {
    const { store, workers, blobs, freeDisk, mailMinFreeDiskBytes } = this.options;
    const prefix = messageKey.under(orgId, inboxId);
    for (let after = knownTo;;) {
      const selector = rangeBehind(prefix, after, false);
      const rows: Row<MessageRow>[] = await store.list(selector, { limit: MESSAGES_A_JOB });
      if (rows.length === 0) return;
      await freeDisk.refresh();
      if ((freeDisk.freeBytes ?? Infinity) < 2 * mailMinFreeDiskBytes) {
        throw new IndexFailed("the disk has no room for more");
      }
      await workers.write("read", inboxId, blobs, rows.map(({ value }) => toIndex(value)));
      after = rows.at(-1)!.value.id;
    }
  }

  /**
   * Forgets what has gone from an inbox.
   * @param upTo id of the newest message that the index has had
   * @returns whether the index has all that is left
   */
  async #retain(orgId: string, inboxId: string, upTo: string): Promise<boolean> {
    const { store, workers } = this.options;
    const prefix = messageKey.under(orgId, inboxId);
    for (let after: string | null = null;;) {
      const selector = rangeBehind(prefix, after, false);
      const rows: Row<MessageRow>[] = await store.list(selector, { limit: IDS_A_JOB });
      const ids = rows.map(({ value }) => value.id).filter((id) => id <= upTo);
      const isLast = ids.length < IDS_A_JOB;
      const end = isLast ? upTo : ids.at(-1)!;
      if (!await workers.write("retain", inboxId, after, end, ids)) return false;
      if (isLast) return true;
      after = end;
    }
  }
}

function toIndex(row: MessageRow): MessageToIndex {
  const { id, createdAtMs, direction, textSource, blob, subject } = row;
  const fields = [subject ?? "", ...namesOf(row)];
  return { id, createdAtMs, direction, textSource, blob, fields };
}
