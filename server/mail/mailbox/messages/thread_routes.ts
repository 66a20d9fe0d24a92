/** Routes of threads (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { Buffer } from "node:buffer";
import { querySchema, yesOrNo } from "../../../base/description/schemas/queries.ts";
import { answerJson, JSON_HEADERS, NO_STORE } from "../../../base/http/answers/answer.ts";
import { answerWhole } from "../../../base/http/answers/large_answer.ts";
import { readQuery } from "../../../base/http/fields/query.ts";
import { mayRead } from "../../access/access.ts";
import { keyRoute } from "../../access/mail_route.ts";
import { NO_INBOX, order, PAGE_QUERY, pageOf, unkept } from "../../access/schemas.ts";
import { Thread, ThreadDetail, ThreadMarks } from "../shown/schemas.ts";
import { markedThread, shownThread, threadMessage } from "../shown/shown_message.ts";
import { bytesOf, type MessageRouteServices } from "./list_route.ts";
import { LABEL_FILTER, readThreadChanges, requireLabel } from "./message_changes.ts";
import { readThreadMessages } from "./thread_messages.ts";
import { keyOfPosition, positionOf, ThreadPages } from "./thread_pages.ts";

const NO_THREAD = "the org has no such thread, or the key is for another inbox";

const ThreadChanges = z.strictObject({ read: z.boolean() }).openapi("MailThreadChanges");

const THREADS_QUERY = { unread: yesOrNo, label: LABEL_FILTER };
const THREAD_QUERY = { order: order("asc") };

const listMailThreads = keyRoute({
  method: "GET",
  path: "/v1/mail/inboxes/{id}/threads",
  id: "listMailThreads",
  may: "read",
  summary: "List threads",
  words: {
    description: "The threads of an inbox, the one with the newest message first. One that moves " +
      "while it is paged may be seen twice and is never skipped.",
    query: querySchema({ ...PAGE_QUERY, ...THREADS_QUERY }),
    answers: { 200: unkept("A page of threads.", pageOf(Thread)) },
    errors: { not_found: NO_INBOX },
  },
  handle(services: MessageRouteServices) {
    const { inboxes, pages, answerBudget, limits } = services;
    const threadPages = new ThreadPages({ ...services, pageBytes: limits.pageBytes });
    return async (request) => {
      const { c, org, key, params } = request;
      const inbox = await inboxes.find(request, params["id"]!);
      const { unread, label } = readQuery(c.get("query"), THREADS_QUERY);
      requireLabel(label);
      const page = await pages.read(c, {
        org: org.id,
        key_inbox: key.inboxId,
        inbox: inbox.id,
        unread: String(unread),
        label: label ?? null,
      });
      const { json, next } = await threadPages.read(org.id, inbox.id, {
        filters: { unread, label },
        after: page.after === null ? null : positionOf(page.after),
        limit: page.limit,
      });
      answerBudget.reserve(c, org.id, bytesOf(json));
      return page.answerJson(json, next === null ? null : keyOfPosition(next));
    };
  },
});

const readMailThread = keyRoute({
  method: "GET",
  path: "/v1/mail/threads/{id}",
  id: "readMailThread",
  may: "read",
  summary: "Read a thread",
  words: {
    description: "A thread with its messages, the oldest first. Each text is cut at 64 KiB, with " +
      "`truncated`; the whole one is at GET /v1/mail/messages/{id}.",
    query: querySchema({ ...PAGE_QUERY, ...THREAD_QUERY }),
    answers: { 200: unkept("The thread and a page of its messages.", ThreadDetail) },
    errors: { not_found: NO_THREAD },
  },
  handle: (services: MessageRouteServices) => async (request) => {
    const { messages, pages, answerBudget, limits } = services;
    const { c, org, key } = request;
    const thread = await messages.findThread(request, request.params["id"]!);
    const { order } = readQuery(c.get("query"), THREAD_QUERY);
    const page = await pages.read(c, {
      org: org.id,
      key_inbox: key.inboxId,
      thread: thread.id,
      order,
    });
    const { entries: json, next } = await readThreadMessages(services, thread, {
      order,
      after: page.after === null ? null : page.after[0] as string,
      limit: page.limit,
      maxBytes: limits.pageBytes,
      sizeOf: (entry: string) => Buffer.byteLength(entry),
      make: (row, head, now) => JSON.stringify(threadMessage(row, head, now)),
    });
    const shown = JSON.stringify(shownThread(thread)).slice(0, -1);
    const cursor = JSON.stringify(next === null ? null : page.cursorAt([next]));
    const whole = `${shown},"messages":[${json.join(",")}],"next_cursor":${cursor}}`;
    const body = new TextEncoder().encode(whole);
    answerBudget.reserve(c, org.id, body.length);
    return answerWhole(body, { headers: { ...JSON_HEADERS, ...NO_STORE } });
  },
});

const updateMailThread = keyRoute({
  method: "PATCH",
  path: "/v1/mail/threads/{id}",
  id: "updateMailThread",
  may: "write",
  summary: "Mark a thread",
  addition: true,
  words: {
    description:
      "Marks all messages of a thread as read or unread, some hundred in each commit. A " +
      "key without `inbox:read` is answered marks.",
    body: { description: "Unknown fields are refused.", schema: ThreadChanges },
    answers: { 200: unkept("The thread as it is now.", z.union([Thread, ThreadMarks])) },
    errors: { not_found: NO_THREAD },
  },
  handle: ({ messages, freeDisk }: MessageRouteServices) => async (request) => {
    const thread = await messages.findThread(request, request.params["id"]!);
    const { read } = readThreadChanges(await request.body());
    await freeDisk.refuseWhenFull();
    const changed = await messages.markThread(request, thread, read);
    const isWhole = mayRead(request.key);
    return answerJson(isWhole ? shownThread(changed) : markedThread(changed), 200, NO_STORE);
  },
});

export const THREAD_ROUTES = [listMailThreads, readMailThread, updateMailThread];
