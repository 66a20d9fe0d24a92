/** Mail of inboxes in a store and files of a test, searched with the index and without. */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { BlobRef } from "../../server/base/blobs/blobs.ts";
import { joinBytes } from "../../server/base/blobs/blob_bytes.ts";
import { blobPath } from "../../server/base/blobs/blob_name.ts";
import { blobReader } from "../../server/base/blobs/blob_reader.ts";
import { makeUlid, makeUlidAbove } from "../../server/base/storage/rows/ulid.ts";
import { encodeTexts, sectionsOf } from "../../server/mail/reading/parsed/encoded_texts.ts";
import { inboxKey } from "../../server/mail/records/inbox_record.ts";
import {
  EMPTY_MAILBOX,
  mailboxKey,
  MESSAGES_CHANGED,
  type MessagesChanged,
} from "../../server/mail/records/mailbox_record.ts";
import { messageKey, type MessageRow } from "../../server/mail/records/message_record.ts";
import { MailIndex, type MailIndexOptions } from "../../server/mail/search/mail_index.ts";
import {
  type AskedSearch,
  type FoundPage,
  MailSearch,
} from "../../server/mail/search/mail_search.ts";
import { termsOf } from "../../server/mail/search/search_terms.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { openTestStorage } from "./storage.ts";

/** What a test says of a message; the rest is that of an ordinary one. */
export interface TestMail {
  subject?: string | null;
  text?: string | null;
  /** As mail programs show it, where that is another. */
  shown?: string | null;
  names?: string[];
  files?: string[];
  direction?: MessageRow["direction"];
}

export interface FoundMail {
  id: string;
  subject: string[];
  text: string[];
}

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

export const newId = (prefix: string, nowMs = Date.now()) => `${prefix}_${makeUlid(nowMs, random)}`;

export type SearchRig = Awaited<ReturnType<typeof openSearchRig>>;

/**
 * One process on a store. Nothing runs unless it is asked to: index.catchUp().
 * @param dir of the blobs, and of the index
 */
export async function openSearchRig({ kv, dir, clock = createTestClock(), index: given = {} }: {
  kv: Deno.Kv;
  dir: string;
  clock?: TestClock;
  index?: Partial<MailIndexOptions>;
}) {
  const storage = await openTestStorage(kv, { clock });
  const { store, commits } = storage;
  const root = join(dir, "mail");
  const folder = given.folder ?? join(dir, "mail-search");
  const logged: { event: string; fields: unknown }[] = [];
  const losses: unknown[] = [];
  let lists = 0;
  const index = new MailIndex({
    ...storage,
    store: {
      ...store,
      list(selector, options) {
        lists++;
        return store.list(selector, options);
      },
    },
    folder,
    blobs: root,
    now: clock.now,
    log: (event, fields = {}) => void logged.push({ event, fields }),
    onLoss: (failure) => void losses.push(failure),
    freeDisk: { refresh: () => Promise.resolve(), freeBytes: null },
    mailMinFreeDiskBytes: 0,
    startTicker: () => () => {},
    ...given,
  });
  const services = { store, blobs: blobReader(root) };
  const bounds = { messages: 2_000, lookMs: Infinity, perOrg: 9, atOneTime: 9, waiting: 9 };
  const engines = {
    indexed: new MailSearch({ ...services, index, bounds }),
    scanned: new MailSearch({ ...services, bounds: { ...bounds, messages: Infinity } }),
  };

  async function writeBlob(orgId: string, mail: TestMail): Promise<BlobRef> {
    const texts = {
      ...{ html: null, extractedText: mail.text ?? null, headers: {}, links: [] },
      text: mail.text ?? null,
      shown: mail.shown ?? null,
    };
    const sections = sectionsOf(new Uint8Array(9), encodeTexts(texts));
    const name = [orgId, makeUlid(clock.now(), random)];
    const path = join(root, ...blobPath(name));
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeFile(path, joinBytes(sections));
    return {
      name,
      sections: sections.map((part) => ({
        sizeBytes: part.length,
        sha256: createHash("sha256").update(part).digest("base64url"),
      })),
    };
  }

  async function addInbox(orgId: string): Promise<string> {
    const id = newId("ibx", clock.now());
    await commits.submit((transaction) => {
      const record = { v: 1, id, orgId } as never;
      transaction.putRecord(inboxKey(orgId, id), record);
    });
    return id;
  }

  /** @returns its row, as it is stored */
  async function deliver(orgId: string, inboxId: string, mail: TestMail): Promise<MessageRow> {
    const blob = await writeBlob(orgId, mail);
    return await commits.submit({
      records: [mailboxKey(orgId, inboxId)],
      sizeBytes: 1_000,
      plan(transaction) {
        const guard = transaction.record(mailboxKey(orgId, inboxId)) ?? EMPTY_MAILBOX;
        const above = guard.headId?.slice("msg_".length) ?? null;
        const headId = `msg_${makeUlidAbove(above, clock.now(), random)}`;
        const [from = "ann@else.test", ...to] = mail.names ?? [];
        const row = {
          ...{ v: 1, id: headId, orgId, inboxId, threadId: "thr", labels: [], read: false },
          ...{ createdAtMs: clock.now(), blob, subject: mail.subject ?? null, cc: [], codes: [] },
          from: { name: null, address: from },
          to: to.map((address) => ({ name: null, address })),
          direction: mail.direction ?? "inbound",
          textSource: (mail.text ?? mail.shown ?? null) === null ? "none" : "plain",
          attachments: (mail.files ?? []).map((filename) => ({ filename })),
        } as unknown as MessageRow;
        transaction.set(messageKey(orgId, inboxId, headId), row);
        const { changes, messages } = guard;
        transaction.putRecord(mailboxKey(orgId, inboxId), {
          ...guard,
          headId,
          messages: messages + 1,
          changes: changes + 1,
        });
        const changed: MessagesChanged = { orgId, inboxId, changes };
        transaction.announce(MESSAGES_CHANGED, changed);
        return row;
      },
    });
  }

  /** @param isHeard whether the process lives on to hear of its commit */
  async function remove({ orgId, inboxId, id }: MessageRow, isHeard = true): Promise<void> {
    await commits.submit({
      records: [mailboxKey(orgId, inboxId)],
      sizeBytes: 100,
      plan(transaction) {
        const guard = transaction.record(mailboxKey(orgId, inboxId))!;
        const { changes, messages } = guard;
        transaction.delete(messageKey(orgId, inboxId, id));
        transaction.putRecord(mailboxKey(orgId, inboxId), {
          ...guard,
          messages: messages - 1,
          changes: changes + 1,
        });
        const changed: MessagesChanged = { orgId, inboxId, changes, removed: id };
        if (isHeard) transaction.announce(MESSAGES_CHANGED, changed);
      },
    });
  }

  async function dropInbox(orgId: string, inboxId: string): Promise<void> {
    await commits.submit((transaction) => {
      transaction.putRecord(inboxKey(orgId, inboxId), null);
      transaction.announce(MESSAGES_CHANGED, { orgId, inboxId } satisfies MessagesChanged);
    });
  }

  /** All that a search finds, page by page, and whether any page was partial. */
  async function findAll(
    engine: keyof typeof engines,
    orgId: string,
    inboxIds: readonly string[],
    q: string,
    { limit = 50, ...asked }: Partial<AskedSearch> & { limit?: number } = {},
  ): Promise<{ found: FoundMail[]; isPartial: boolean }> {
    const found: FoundMail[] = [];
    let isPartial = false;
    for (let position: string | null = null;;) {
      const page: FoundPage<FoundMail> = await engines[engine].find<FoundMail>(
        orgId,
        { ...asked, terms: termsOf(q), inboxIds, position },
        {
          limit,
          maxBytes: 1e7,
          sizeOf: () => 1,
          make: ({ row, highlights }) => ({ id: row.id, ...highlights }),
        },
      );
      found.push(...page.rows);
      isPartial ||= page.isPartial;
      if (page.next === null) return { found, isPartial };
      position = page.next;
    }
  }

  /** All bytes of the index. */
  async function indexBytes(): Promise<string> {
    const texts = [];
    for await (const { name } of Deno.readDir(folder)) {
      const bytes = await Deno.readFile(join(folder, name));
      texts.push(new TextDecoder("latin1").decode(bytes));
    }
    return texts.join("\n");
  }

  async function close(): Promise<void> {
    await index.close();
    await storage.close();
  }

  return {
    ...{ storage, clock, index, folder, root, logged, losses, engines },
    /** Lists of rows that the index has read so far. */
    lists: () => lists,
    ...{ addInbox, deliver, remove, dropInbox, findAll, indexBytes, close },
    [Symbol.asyncDispose]: close,
  };
}
