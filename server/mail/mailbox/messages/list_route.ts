/** GET /v1/mail/inboxes/{id}/messages: a page, a poll that waits, or a stream (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { Buffer } from "node:buffer";
import type { Context } from "hono";
import { described, querySchema, yesOrNo } from "../../../base/description/schemas/queries.ts";
import { invalidJson, unavailable } from "../../../base/errors.ts";
import { integer, readQuery, text } from "../../../base/http/fields/query.ts";
import type { HttpEnv } from "../../../base/http/routes/route.ts";
import type { PageRequest } from "../../access/list_pages.ts";
import { type KeyedRequest, keyRoute } from "../../access/mail_route.ts";
import { direction, NO_INBOX, number, order, PAGE_QUERY, pageOf } from "../../access/schemas.ts";
import type { MailBase } from "../../core/mail_base.ts";
import { isMailId } from "../../records/mail_id.ts";
import { mailboxKey } from "../../records/mailbox_record.ts";
import type { Inboxes } from "../inboxes/inboxes.ts";
import { MessageRow } from "../shown/schemas.ts";
import type { SendsInFlight } from "../statuses/sends_in_flight.ts";
import { LABEL_FILTER, requireLabel } from "./message_changes.ts";
import { type MessageFilters, MessagePages } from "./message_pages.ts";
import { MessageStreams, type StreamRequest } from "./message_streams.ts";
import type { Messages } from "./messages.ts";
import type { OrgAnswerBudget } from "./org_answer_budget.ts";
import { waitForMessages } from "./wait_for_messages.ts";

/** What routes of messages and threads are mounted with. */
export interface MessageRouteServices extends MailBase {
  inboxes: Inboxes;
  messages: Messages;
  inFlight: SendsInFlight;
  answerBudget: OrgAnswerBudget;
}

/** A page of a stream, which a client that takes nothing leaves in memory; ten of an org may stand so. */
const STREAM_PAGE_BYTES = 64 * 1024;
/** Longest wait of a poll, in seconds. */
const MAX_WAIT_SECONDS = 25;

const QUERY = {
  direction,
  unread: yesOrNo,
  has_code: yesOrNo,
  label: LABEL_FILTER,
  thread_id: described(text(), z.string().optional()),
  order: order("desc"),
  wait: number(
    `With \`order=asc\` only: seconds to wait for a message, 0 to ${MAX_WAIT_SECONDS}; clamped.`,
    integer(0, MAX_WAIT_SECONDS, 0),
  ),
};

export const listMail = keyRoute({
  method: "GET",
  path: "/v1/mail/inboxes/{id}/messages",
  id: "listMail",
  may: "read",
  summary: "List messages",
  words: {
    description: "The messages of an inbox, the newest first.\n\n" +
      "**To wait for mail**, ask with `order=asc`: the oldest come first, and `next_cursor` is never " +
      "null. Keep it and pass it later to get what has come since, with `wait` as soon as it comes. " +
      "Nothing is missed and nothing comes twice, whatever is read or labelled meanwhile. " +
      "`direction=inbound` leaves out what the inbox sent itself: who answers all that comes needs it.\n\n" +
      "With `Accept: text/event-stream` and `order=asc` the same is a live stream: `event: message`, " +
      "the row as `data`, its cursor as `id`, from now on or behind `Last-Event-ID`. It ends after 15 " +
      "minutes or with the key; an org may have 10 open.\n\n" +
      "A filtered page may be short, or empty, while `next_cursor` is not null.",
    query: querySchema({ ...PAGE_QUERY, ...QUERY }),
    headers: z.object({ "Last-Event-ID": z.string().optional() }),
    answers: {
      200: {
        description: "A page of messages without their texts, or the stream.",
        headers: ["Cache-Control"],
        content: [
          { schema: pageOf(MessageRow) },
          { type: "text/event-stream", schema: z.string() },
        ],
      },
    },
    errors: {
      not_found: NO_INBOX,
      rate_limited: "the org has as many streams open as it may",
    },
  },
  handle(services: MessageRouteServices) {
    const { inboxes, pages, waits, answerBudget, limits } = services;
    const messagePages = new MessagePages({ ...services, pageBytes: limits.pageBytes });
    const streamPages = new MessagePages({ ...services, pageBytes: STREAM_PAGE_BYTES });
    const streams = new MessageStreams();
    return async (request) => {
      const { c, org, key, params, confirm } = request;
      const inbox = await inboxes.find(request, params["id"]!);
      const query = readMessageQuery(c.get("query"));
      const page = await pages.read(c, {
        org: org.id,
        key_inbox: key.inboxId,
        inbox: inbox.id,
        ...boundOf(query),
      });
      const after = page.after === null ? null : page.after[0] as string;
      const readBy = (some: MessagePages) => (behind: string | null) =>
        some.read(org.id, inbox.id, { ...query, after: behind || null, limit: page.limit });
      if (query.order === "asc" && asksForStream(c)) {
        return await stream(services, streams, request, {
          inboxId: inbox.id,
          page,
          after,
          readAfter: readBy(streamPages),
        });
      }
      const read = readBy(messagePages);
      const found = query.waitMs === 0 || c.get("head")
        ? await read(after)
        : await waitForMessages(waits, {
          mailbox: mailboxKey(org.id, inbox.id),
          waitMs: query.waitMs,
          signal: c.req.raw.signal,
          after,
          read,
          confirm,
        });
      answerBudget.reserve(c, org.id, bytesOf(found.json));
      if (query.order === "desc") {
        return page.answerJson(found.json, found.more ? [found.position!] : null);
      }
      return page.answerJson(found.json, [found.position ?? after ?? ""]);
    };
  },
});

async function stream(
  { waits, mailboxes }: MessageRouteServices,
  streams: MessageStreams,
  { c, org, confirm }: KeyedRequest,
  { inboxId, page, after, readAfter }: Pick<StreamRequest, "readAfter"> & {
    inboxId: string;
    page: PageRequest;
    after: string | null;
  },
): Promise<Response> {
  const lastEventId = c.req.raw.headers.get("last-event-id");
  const resumed = lastEventId === null ? after : page.open(lastEventId)[0] as string;
  const giveBack = streams.take(org.id);
  const waiter = waits.open(mailboxKey(org.id, inboxId), { signal: c.req.raw.signal });
  if (waiter === null) {
    giveBack();
    throw unavailable("too many requests wait at this relay; poll without wait", 1_000);
  }
  try {
    const position = resumed ?? (await mailboxes.read(org.id, inboxId)).headId ?? "";
    return streams.answer({
      position,
      waiter,
      readAfter,
      cursorAt: (id) => page.cursorAt([id]),
      confirm,
    }, giveBack);
  } catch (error) {
    waiter.end();
    giveBack();
    throw error;
  }
}

/** @param json rows that are finished JSON */
export function bytesOf(json: readonly string[]): number {
  return json.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
}

function asksForStream(c: Context<HttpEnv>): boolean {
  if (c.get("head")) return false;
  const accept = c.req.raw.headers.get("accept") ?? "";
  return accept.split(",").some((part) =>
    part.split(";", 1)[0]!.trim().toLowerCase() === "text/event-stream"
  );
}

interface MessageListQuery {
  filters: MessageFilters;
  order: "asc" | "desc";
  waitMs: number;
}

/** @throws RelayError `invalid_json` naming the parameter */
function readMessageQuery(rawQuery: string): MessageListQuery {
  const query = readQuery(rawQuery, QUERY);
  const { direction, unread, has_code: hasCode, label, thread_id: threadId, order, wait } = query;
  requireLabel(label);
  if (threadId !== undefined && !isMailId("thr", threadId)) {
    throw invalidJson(
      "query parameter thread_id must be the id of a thread, thr_ and 26 characters",
    );
  }
  // Only who reads upwards can wait for what comes.
  if (wait > 0 && order !== "asc") {
    throw invalidJson("query parameter wait needs order=asc: add it, or leave wait out");
  }
  return { filters: { direction, unread, hasCode, label, threadId }, order, waitMs: wait * 1000 };
}

/** What a cursor of the list is bound to. */
function boundOf({ filters, order }: MessageListQuery): Record<string, string | null> {
  const { direction, unread, hasCode, label, threadId } = filters;
  return {
    order,
    direction: direction ?? null,
    unread: String(unread),
    has_code: String(hasCode),
    label: label ?? null,
    thread_id: threadId ?? null,
  };
}
