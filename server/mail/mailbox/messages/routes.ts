/** Routes of messages and threads, but for sending. */
import { Buffer } from "node:buffer";
import type { Context } from "hono";
import type { Blobs } from "../../../base/blobs/blobs.ts";
import { invalidJson, unavailable } from "../../../base/errors.ts";
import { answerJson, JSON_HEADERS, NO_STORE } from "../../../base/http/answers/answer.ts";
import { answerWhole } from "../../../base/http/answers/large_answer.ts";
import { noContent } from "../../../base/http/answers/no_content.ts";
import { choice, flag, readQuery, text } from "../../../base/http/fields/query.ts";
import type { HttpEnv } from "../../../base/http/routes/route.ts";
import type { Limits } from "../../../base/config/limits.ts";
import type { FreeDisk } from "../../../base/storage/free_disk.ts";
import type { MailboxWaits } from "../../../base/waiting/mailbox_waits.ts";
import { mayRead } from "../../access/access.ts";
import type { Inboxes } from "../inboxes/inboxes.ts";
import type { ListPages } from "../../access/list_pages.ts";
import type { SendsInFlight } from "../statuses/sends_in_flight.ts";
import type { KeyedRequest } from "../../access/mail_route.ts";
import type { MailHandlers } from "../../access/paths.ts";
import type { MailWorker } from "../../worker/mail_worker.ts";
import { mailboxKey, type MailboxRecord } from "../../records/mailbox_record.ts";
import { type MessageRow, RAW, REST } from "../../records/message_record.ts";
import { unknownObject } from "../../access/unknown_object.ts";
import type { OrgAnswerBudget } from "./org_answer_budget.ts";
import { attachmentHeaders, RAW_HEADERS } from "./file_headers.ts";
import { changeMessage, LABEL, readMessageChanges, readThreadChanges } from "./message_changes.ts";
import type { MessagePage, MessagePages } from "./message_pages.ts";
import { boundOf, readMessageQuery } from "./message_query.ts";
import type { MessageStreams } from "./message_streams.ts";
import type { Messages } from "./messages.ts";
import { prepareAnswer, showWhole } from "../shown/show_whole.ts";
import { markedThread, shownThread, threadMessage } from "../shown/shown_message.ts";
import { readThreadMessages } from "./thread_messages.ts";
import { keyOfPosition, positionOf, type ThreadPages } from "./thread_pages.ts";
import { waitForMessages } from "./wait_for_messages.ts";

export interface MessageRouteServices {
  inboxes: Inboxes;
  messages: Messages;
  messagePages: MessagePages;
  /** Of streams: what a client that takes nothing leaves in memory. */
  streamPages: MessagePages;
  inFlight: SendsInFlight;
  threadPages: ThreadPages;
  streams: MessageStreams;
  pages: ListPages;
  waits: MailboxWaits<MailboxRecord, string>;
  records: { read<T>(key: Deno.KvKey): Promise<T | null> };
  blobs: Blobs;
  reader: Pick<MailWorker, "readAttachment">;
  answerBudget: Pick<OrgAnswerBudget, "reserve">;
  freeDisk: FreeDisk;
  limits: Limits;
}

const THREADS_QUERY = { unread: flag(), label: text() };
const THREAD_QUERY = { order: choice(["asc", "desc"], "asc") };

export function messageHandlers(services: MessageRouteServices) {
  const {
    inboxes,
    messages,
    messagePages,
    threadPages,
    pages,
    waits,
    blobs,
    inFlight,
    answerBudget,
    limits,
  } = services;

  async function list(request: KeyedRequest): Promise<Response> {
    const { c, org, key, params } = request;
    const inbox = await inboxes.find(request, params["id"]!);
    const query = readMessageQuery(c.get("query"));
    const page = await pages.read(c, {
      org: org.id,
      key_inbox: key.inboxId,
      inbox: inbox.id,
      ...boundOf(query),
    });
    const after = page.after === null ? null : page.after[0] as string;
    const read = (behind: string | null) =>
      messagePages.read(org.id, inbox.id, { ...query, after: behind || null, limit: page.limit });
    if (query.order === "asc" && asksForStream(c)) {
      const next = (behind: string | null) =>
        services.streamPages.read(org.id, inbox.id, {
          ...query,
          after: behind || null,
          limit: page.limit,
        });
      return await stream(request, inbox.id, { page, after, read: next });
    }
    const found = query.waitMs === 0 || c.get("head")
      ? await read(after)
      : await waitForMessages(waits, {
        mailbox: mailboxKey(org.id, inbox.id),
        waitMs: query.waitMs,
        signal: c.req.raw.signal,
        after,
        read,
        confirm: request.confirm,
      });
    answerBudget.reserve(c, org.id, sizeOf(found));
    if (query.order === "desc") {
      return page.answerJson(found.json, found.more ? [found.position!] : null);
    }
    return page.answerJson(found.json, [found.position ?? after ?? ""]);
  }

  async function stream(
    { c, org, confirm }: KeyedRequest,
    inboxId: string,
    { page, after, read }: {
      page: Awaited<ReturnType<ListPages["read"]>>;
      after: string | null;
      read: (after: string | null) => Promise<MessagePage>;
    },
  ): Promise<Response> {
    const lastEventId = c.req.raw.headers.get("last-event-id");
    const resumed = lastEventId === null ? after : page.open(lastEventId)[0] as string;
    const giveBack = services.streams.take(org.id);
    const key = mailboxKey(org.id, inboxId);
    const waiter = waits.open(key, { signal: c.req.raw.signal });
    if (waiter === null) {
      giveBack();
      throw unavailable("too many requests wait at this relay; poll without wait", 1_000);
    }
    try {
      const position = resumed ??
        (await services.records.read<MailboxRecord>(key))?.headId ?? "";
      return services.streams.answer({
        orgId: org.id,
        position,
        waiter,
        readAfter: read,
        cursorAt: (id) => page.cursorAt([id]),
        confirm,
      }, giveBack);
    } catch (error) {
      waiter.end();
      giveBack();
      throw error;
    }
  }

  function holdWhole(c: Context<HttpEnv>, { orgId, blob }: MessageRow): void {
    answerBudget.reserve(c, orgId, blob.sections[REST]!.sizeBytes + ROW_BYTES);
  }

  return {
    listMail: list,
    async readMail(request) {
      const row = await messages.find(request, request.params["id"]!);
      holdWhole(request.c, row);
      return await showWhole(services, row);
    },
    async updateMail(request) {
      const row = await messages.find(request, request.params["id"]!);
      const changes = readMessageChanges(await request.body());
      await services.freeDisk.refuseWhenFull();
      const isNothing = changeMessage(row, changes) === null;
      const isWhole = mayRead(request.key);
      if (isWhole) holdWhole(request.c, row);
      const give = await prepareAnswer(services, row, isWhole);
      const changed = isNothing
        ? row
        : await messages.change(request, row, (current) => changeMessage(current, changes));
      return await give(changed);
    },
    async deleteMail(request) {
      await messages.remove(request, await messages.find(request, request.params["id"]!));
      return noContent();
    },
    async readRawMail(request) {
      const row = await messages.find(request, request.params["id"]!);
      answerBudget.reserve(request.c, row.orgId, row.blob.sections[RAW]!.sizeBytes);
      return answerWhole(await blobs.read(row.blob, RAW), { headers: RAW_HEADERS });
    },
    async readMailAttachment(request) {
      const row = await messages.find(request, request.params["id"]!);
      const id = request.params["attachment_id"]!;
      const index = row.attachments.findIndex((one) => one.id === id);
      if (index < 0) throw unknownObject("attachment");
      answerBudget.reserve(request.c, row.orgId, row.blob.sections[RAW]!.sizeBytes);
      const raw = await blobs.read(row.blob, RAW);
      const read = await services.reader.readAttachment(raw, {
        index,
        sha256: row.attachments[index]!.sha256,
      }, {
        parts: limits.mailParts,
        depth: limits.mailDepth,
      }, row.orgId);
      await request.confirm(); // the worker may have been busy
      if (read === null) throw unknownObject("attachment"); // read under other limits
      return answerWhole(read.bytes, { headers: attachmentHeaders(row.attachments[index]!) });
    },
    async listMailThreads(request) {
      const { c, org, key, params } = request;
      const inbox = await inboxes.find(request, params["id"]!);
      const { unread, label } = readQuery(c.get("query"), THREADS_QUERY);
      if (label !== undefined && !LABEL.test(label)) {
        throw invalidJson("query parameter label must be 1 to 32 of a-z, 0-9, _ and -");
      }
      const page = await pages.read(c, {
        org: org.id,
        key_inbox: key.inboxId,
        inbox: inbox.id,
        unread: String(unread),
        label: label ?? null,
      });
      const found = await threadPages.read(org.id, inbox.id, {
        filters: { unread, label },
        after: page.after === null ? null : positionOf(page.after),
        limit: page.limit,
      });
      answerBudget.reserve(c, org.id, sizeOf(found));
      return page.answerJson(found.json, found.next === null ? null : keyOfPosition(found.next));
    },
    async readMailThread(request) {
      const { c, org, key } = request;
      const thread = await messages.findThread(request, request.params["id"]!);
      const { order } = readQuery(c.get("query"), THREAD_QUERY);
      const asked = await pages.read(c, {
        org: org.id,
        key_inbox: key.inboxId,
        thread: thread.id,
        order,
      });
      const { entries: json, next } = await readThreadMessages(
        { messages, blobs, inFlight },
        thread,
        {
          order,
          after: asked.after === null ? null : asked.after[0] as string,
          limit: asked.limit,
          maxBytes: limits.pageBytes,
          sizeOf: (entry: string) => Buffer.byteLength(entry),
          make: (row, head, now) => JSON.stringify(threadMessage(row, head, now)),
        },
      );
      const shown = JSON.stringify(shownThread(thread)).slice(0, -1);
      const cursor = JSON.stringify(next === null ? null : asked.cursorAt([next]));
      const text = `${shown},"messages":[${json.join(",")}],"next_cursor":${cursor}}`;
      const body = new TextEncoder().encode(text);
      answerBudget.reserve(c, org.id, body.length);
      return answerWhole(body, { headers: { ...JSON_HEADERS, ...NO_STORE } });
    },
    async updateMailThread(request) {
      const thread = await messages.findThread(request, request.params["id"]!);
      const { read } = readThreadChanges(await request.body());
      await services.freeDisk.refuseWhenFull();
      const changed = await messages.markThread(request, thread, read);
      const isWhole = mayRead(request.key);
      return answerJson(isWhole ? shownThread(changed) : markedThread(changed), 200, NO_STORE);
    },
  } satisfies MailHandlers;
}

/** What the row of a message adds to its texts, at most. */
const ROW_BYTES = 64 * 1024;

function sizeOf({ json }: { json: readonly string[] }): number {
  return json.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
}

function asksForStream(c: Context<HttpEnv>): boolean {
  if (c.get("head")) return false;
  const accept = c.req.raw.headers.get("accept") ?? "";
  return accept.split(",").some((part) =>
    part.split(";", 1)[0]!.trim().toLowerCase() === "text/event-stream"
  );
}
