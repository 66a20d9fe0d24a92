/** Messages and threads in the API description (docs/mail.md, "Reading mail"). */
import { z } from "@hono/zod-openapi";
import type { DescribedRoutes } from "../../access/paths.ts";
import { pageOf, PageQuery } from "../../access/schemas.ts";
import {
  Message,
  MessageMarks,
  MessageRow,
  Thread,
  ThreadDetail,
  ThreadMarks,
} from "../shown/schemas.ts";

const FLAG = z.enum(["true", "false"]).optional();
const label = z.string().regex(/^[a-z0-9_-]{1,32}$/).optional();

const MessageQuery = PageQuery.extend({
  direction: z.enum(["inbound", "outbound"]).optional(),
  unread: FLAG,
  has_code: FLAG,
  label,
  thread_id: z.string().optional(),
  order: z.enum(["asc", "desc"]).optional().openapi({ description: "`desc` when absent." }),
  wait: z.string().regex(/^-?[0-9]{1,20}$/).optional().openapi({
    description: "With `order=asc` only: seconds to wait for a message, 0 to 25; clamped.",
  }),
});

const NO_MESSAGE = "the org has no such message, or the key is for another inbox";
const NO_THREAD = "the org has no such thread, or the key is for another inbox";

const LABELS = z.array(z.string().regex(/^[a-z0-9_-]{1,32}$/)).max(20).optional();
const MessageChanges = z.strictObject({
  read: z.boolean().optional(),
  add_labels: LABELS,
  remove_labels: LABELS,
}).openapi("MailMessageChanges");
const ThreadChanges = z.strictObject({ read: z.boolean() }).openapi("MailThreadChanges");

const json = (description: string, schema: z.ZodType) => ({
  description,
  headers: ["Cache-Control"] as const,
  content: { schema },
});
const bytes = (description: string, type: string) => ({
  description,
  headers: ["Cache-Control"] as const,
  content: { type, schema: z.string().openapi({ format: "binary" }) },
});

export function messageRoutes(): DescribedRoutes {
  return {
    listMail: {
      description: "The messages of an inbox, the newest first.\n\n" +
        "**To wait for mail**, ask with `order=asc`: the oldest come first, and `next_cursor` is never " +
        "null. Keep it and pass it later to get what has come since, with `wait` as soon as it comes. " +
        "Nothing is missed and nothing comes twice, whatever is read or labelled meanwhile. " +
        "`direction=inbound` leaves out what the inbox sent itself: who answers all that comes needs it.\n\n" +
        "With `Accept: text/event-stream` and `order=asc` the same is a live stream: `event: message`, " +
        "the row as `data`, its cursor as `id`, from now on or behind `Last-Event-ID`. It ends after 15 " +
        "minutes or with the key; an org may have 10 open.\n\n" +
        "A filtered page may be short, or empty, while `next_cursor` is not null.",
      query: MessageQuery,
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
        not_found: "the org has no inbox with this id or address, or the key is for another",
        rate_limited: "the org has as many streams open as it may",
      },
    },
    readMail: {
      description: "A whole message. Reading it marks nothing.",
      answers: { 200: json("The message.", Message) },
      errors: { not_found: NO_MESSAGE },
    },
    updateMail: {
      description:
        "Marks a message as read or unread, and adds or takes labels: at most 20 a message. A key " +
        "without `inbox:read` is answered marks, and nothing that the message says.",
      body: { description: "Unknown fields are refused.", schema: MessageChanges },
      answers: { 200: json("The message as it is now.", z.union([Message, MessageMarks])) },
      errors: { not_found: NO_MESSAGE },
    },
    deleteMail: {
      description:
        "Deletes a message with its attachments, for good. Its thread is counted anew; a " +
        "thread without messages goes too.",
      answers: { 204: { description: "Deleted." } },
      errors: { not_found: NO_MESSAGE },
    },
    readRawMail: {
      description: "The message exactly as it came or went.",
      answers: { 200: bytes("The bytes.", "message/rfc822") },
      errors: { not_found: NO_MESSAGE },
    },
    readMailAttachment: {
      description:
        "The decoded bytes of an attachment, under headers by which no browser runs them: " +
        "HTML, SVG and XML come as `application/octet-stream`.",
      answers: { 200: bytes("The bytes.", "*/*") },
      errors: { not_found: "the message has no such attachment, or the org no such message" },
    },
    listMailThreads: {
      description:
        "The threads of an inbox, the one with the newest message first. One that moves " +
        "while it is paged may be seen twice and is never skipped.",
      query: PageQuery.extend({ unread: FLAG, label }),
      answers: { 200: json("A page of threads.", pageOf(Thread)) },
      errors: {
        not_found: "the org has no inbox with this id or address, or the key is for another",
      },
    },
    readMailThread: {
      description:
        "A thread with its messages, the oldest first. Each text is cut at 64 KiB, with " +
        "`truncated`; the whole one is at GET /v1/mail/messages/{id}.",
      query: PageQuery.extend({
        order: z.enum(["asc", "desc"]).optional().openapi({ description: "`asc` when absent." }),
      }),
      answers: { 200: json("The thread and a page of its messages.", ThreadDetail) },
      errors: { not_found: NO_THREAD },
    },
    updateMailThread: {
      description:
        "Marks all messages of a thread as read or unread, some hundred in each commit. A key " +
        "without `inbox:read` is answered marks.",
      body: { description: "Unknown fields are refused.", schema: ThreadChanges },
      answers: { 200: json("The thread as it is now.", z.union([Thread, ThreadMarks])) },
      errors: { not_found: NO_THREAD },
    },
  };
}
