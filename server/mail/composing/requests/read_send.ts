/** Body of POST /v1/mail/inboxes/{id}/messages/send (docs/mail.md, "A message"). Pure. */
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import { invalidJson } from "../../../base/errors.ts";
import type { ExtraHeader, MessageContent, MessageLimits } from "../../records/message_content.ts";
import { readAddresses, uniqueRecipients } from "./read_addresses.ts";
import { readAttachments } from "./read_attachments.ts";
import { readBodies, requireBody } from "./read_bodies.ts";
import { refuseNearNames } from "./refuse_near_names.ts";
import { readExtraHeaders, readLabels, readSendAt, readSubject } from "./read_extras.ts";

/** Addresses that answers may go to. */
export const MAX_REPLY_TO = 5;

const FIELDS = [
  "to",
  "cc",
  "bcc",
  "subject",
  "text",
  "html",
  "attachments",
  "headers",
  "reply_to",
  "labels",
  "send_at",
];

export interface SendRequest extends MessageContent {
  headers: ExtraHeader[];
}

export interface ReadingContext {
  limits: MessageLimits;
  nowMs: number;
}

/**
 * What is to be sent; null counts as absent, unknown fields are ignored unless one was meant for a known.
 * @throws RelayError `payload_too_large`, `invalid_json` or `invalid_email`, naming the field
 */
export function readSend(request: JsonObject, { limits, nowMs }: ReadingContext): SendRequest {
  const bodies = readBodies(request, limits);
  refuseNearNames(request, FIELDS);
  const given = withoutNulls(request);
  const recipients = requireRecipient({
    to: readAddresses("to", given["to"]),
    cc: readAddresses("cc", given["cc"]),
    bcc: readAddresses("bcc", given["bcc"]),
  });
  requireBody(bodies);
  return {
    ...uniqueRecipients(recipients, limits),
    ...bodies,
    subject: readSubject(given["subject"]),
    replyTo: readAddresses("reply_to", given["reply_to"], MAX_REPLY_TO),
    headers: readExtraHeaders(given["headers"]),
    labels: readLabels(given["labels"]),
    sendAtMs: readSendAt(given["send_at"], nowMs),
    // Last: it costs most.
    attachments: readAttachments(given["attachments"], limits),
  };
}

/** @throws RelayError `invalid_json` without an address in `to` */
export function requireRecipient<R extends { to: readonly unknown[] }>(recipients: R): R {
  if (recipients.to.length > 0) return recipients;
  throw invalidJson(
    'to is required: one address such as "ann@example.org", or an array of them',
  );
}

/** The fields that say something. */
export function withoutNulls(request: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null));
}
