/** Routes of messages, except sending and answering (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { answerWhole } from "../../../base/http/answers/large_answer.ts";
import { noContent } from "../../../base/http/answers/no_content.ts";
import { mayRead } from "../../access/access.ts";
import { type KeyedRequest, keyRoute } from "../../access/mail_route.ts";
import { unkept } from "../../access/schemas.ts";
import { unknownObject } from "../../access/unknown_object.ts";
import { type MessageRow, RAW, REST } from "../../records/message_record.ts";
import { Message, MessageMarks } from "../shown/schemas.ts";
import { prepareAnswer, showWhole } from "../shown/show_whole.ts";
import { attachmentHeaders, RAW_HEADERS } from "./file_headers.ts";
import { listMail, type MessageRouteServices } from "./list_route.ts";
import { changeMessage, LABEL, MAX_LABELS, readMessageChanges } from "./message_changes.ts";

/** What the row of a message adds to its texts, at most. */
const ROW_BYTES = 64 * 1024;

const NO_MESSAGE = "the org has no such message, or the key is for another inbox";

const LABELS = z.array(z.string().regex(LABEL)).max(MAX_LABELS).optional();
const MessageChanges = z.strictObject({
  read: z.boolean().optional(),
  add_labels: LABELS,
  remove_labels: LABELS,
}).openapi("MailMessageChanges");

const bytes = (type: string) => ({
  description: "The bytes.",
  headers: ["Cache-Control"] as const,
  content: { type, schema: z.string().openapi({ format: "binary" }) },
});

const readMail = keyRoute({
  method: "GET",
  path: "/v1/mail/messages/{id}",
  id: "readMail",
  may: "read",
  summary: "Read a message",
  words: {
    description: "A whole message. Reading it marks nothing.",
    answers: { 200: unkept("The message.", Message) },
    errors: { not_found: NO_MESSAGE },
  },
  handle: (services: MessageRouteServices) => async (request) => {
    const row = await find(services, request);
    reserveWhole(services, request, row);
    return await showWhole(services, row);
  },
});

const updateMail = keyRoute({
  method: "PATCH",
  path: "/v1/mail/messages/{id}",
  id: "updateMail",
  may: "write",
  summary: "Mark or label a message",
  addition: true,
  words: {
    description: "Marks a message as read or unread, and adds or takes labels: at most " +
      `${MAX_LABELS} a message. A key without \`inbox:read\` is answered marks, and nothing that ` +
      "the message says.",
    body: { description: "Unknown fields are refused.", schema: MessageChanges },
    answers: { 200: unkept("The message as it is now.", z.union([Message, MessageMarks])) },
    errors: { not_found: NO_MESSAGE },
  },
  handle: (services: MessageRouteServices) => async (request) => {
    const row = await find(services, request);
    const changes = readMessageChanges(await request.body());
    await services.freeDisk.refuseWhenFull();
    const isNothing = changeMessage(row, changes) === null;
    const isWhole = mayRead(request.key);
    if (isWhole) reserveWhole(services, request, row);
    const give = await prepareAnswer(services, row, isWhole);
    const changed = isNothing
      ? row
      : await services.messages.change(request, row, (current) => changeMessage(current, changes));
    return await give(changed);
  },
});

const deleteMail = keyRoute({
  method: "DELETE",
  path: "/v1/mail/messages/{id}",
  id: "deleteMail",
  may: "orgWrite",
  summary: "Delete a message",
  addition: true,
  words: {
    description:
      "Deletes a message with its attachments, for good. Its thread is counted anew; a " +
      "thread without messages goes too.",
    answers: { 204: { description: "Deleted." } },
    errors: { not_found: NO_MESSAGE },
  },
  handle: (services: MessageRouteServices) => async (request) => {
    await services.messages.remove(request, await find(services, request));
    return noContent();
  },
});

const readRawMail = keyRoute({
  method: "GET",
  path: "/v1/mail/messages/{id}/raw",
  id: "readRawMail",
  may: "read",
  summary: "Read a message's raw bytes",
  addition: true,
  words: {
    description: "The message exactly as it came or went.",
    answers: { 200: bytes("message/rfc822") },
    errors: { not_found: NO_MESSAGE },
  },
  handle: (services: MessageRouteServices) => async (request) => {
    const raw = await readRaw(services, request, await find(services, request));
    return answerWhole(raw, { headers: RAW_HEADERS });
  },
});

const readMailAttachment = keyRoute({
  method: "GET",
  path: "/v1/mail/messages/{id}/attachments/{attachment_id}",
  id: "readMailAttachment",
  may: "read",
  summary: "Read an attachment",
  addition: true,
  words: {
    description:
      "The decoded bytes of an attachment, under headers by which no browser runs them: " +
      "HTML, SVG and XML come as `application/octet-stream`.",
    answers: { 200: bytes("*/*") },
    errors: { not_found: "the message has no such attachment, or the org no such message" },
  },
  handle: (services: MessageRouteServices) => async (request) => {
    const { reader, limits } = services;
    const row = await find(services, request);
    const id = request.params["attachment_id"]!;
    const index = row.attachments.findIndex((one) => one.id === id);
    if (index < 0) throw unknownObject("attachment");
    const attachment = row.attachments[index]!;
    const raw = await readRaw(services, request, row);
    const read = await reader.readAttachment(raw, { index, sha256: attachment.sha256 }, {
      parts: limits.mailParts,
      depth: limits.mailDepth,
    }, row.orgId);
    await request.confirm(); // the worker may have been busy
    if (read === null) throw unknownObject("attachment"); // read under other limits
    return answerWhole(read.bytes, { headers: attachmentHeaders(attachment) });
  },
});

export const MESSAGE_ROUTES = [
  listMail,
  readMail,
  updateMail,
  deleteMail,
  readRawMail,
  readMailAttachment,
];

function find({ messages }: MessageRouteServices, request: KeyedRequest): Promise<MessageRow> {
  return messages.find(request, request.params["id"]!);
}

function reserveWhole(
  { answerBudget }: MessageRouteServices,
  { c }: KeyedRequest,
  { orgId, blob }: MessageRow,
): void {
  answerBudget.reserve(c, orgId, blob.sections[REST]!.sizeBytes + ROW_BYTES);
}

function readRaw(
  { answerBudget, blobs }: MessageRouteServices,
  { c }: KeyedRequest,
  { orgId, blob }: MessageRow,
): Promise<Uint8Array<ArrayBuffer>> {
  answerBudget.reserve(c, orgId, blob.sections[RAW]!.sizeBytes);
  return blobs.read(blob, RAW);
}
