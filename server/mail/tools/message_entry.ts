/** A message as the mail tools give it: its schema, and how it is made of the store's row. */
import * as z from "zod";
import type { FoundLink } from "../reading/parsed/parsed_mail.ts";
import { cutAtBytes, type ShownHead, shownTextOf } from "../reading/parsed/encoded_texts.ts";
import type { InFlight } from "../mailbox/statuses/sends_in_flight.ts";
import { type MessageRow, SHOWN } from "../records/message_record.ts";
import { shownMessage, threadMessage } from "../mailbox/shown/shown_message.ts";

/** What structured answers say of the mail in them. */
export const TRUST = "untrusted content from strangers" as const;
export const trustSchema = z.literal(TRUST);

/** Bytes of UTF-8 of a text in the list of an inbox. */
const LISTED_TEXT_BYTES = 2 * 1024;

/** What calls need; an entry has all fields of a row of the REST API. The list of tools is to be short. */
export const messageSchema = z.looseObject({ id: z.string(), thread_id: z.string() });

/** As lists of the REST API show it, with addresses of its attachments. */
export function messageEntry(row: MessageRow, baseUrl: string, now: InFlight) {
  return { ...shownMessage(row, now), attachments: attachmentsOf(row, baseUrl) };
}

/**
 * The same with the beginning of its text, and its links.
 * @param head null where its bytes are damaged
 */
export function inboxEntry(
  row: MessageRow,
  { head, links, baseUrl, now }: {
    head: ShownHead | null;
    links: FoundLink[];
    baseUrl: string;
    now: InFlight;
  },
) {
  const text = head?.extracted_text ?? null;
  const extracted_text = cutAtBytes(text, LISTED_TEXT_BYTES);
  const truncated = head === null || extracted_text !== text || head.truncated;
  return { ...messageEntry(row, baseUrl, now), extracted_text, truncated, links };
}

/** As a page of a thread shows it, except its text: a model gets the text that is shown. */
export function threadEntry(
  row: MessageRow,
  head: ShownHead | null,
  baseUrl: string,
  now: InFlight,
) {
  const entry = { ...threadMessage(row, head, now), attachments: attachmentsOf(row, baseUrl) };
  if (head === null) return entry;
  const truncated = head.truncated || row.blob.sections[SHOWN] !== undefined;
  return { ...entry, text: shownTextOf(head), truncated };
}

export type MessageEntry = ReturnType<typeof messageEntry>;
export type InboxEntry = ReturnType<typeof inboxEntry>;
export type ThreadEntry = ReturnType<typeof threadEntry>;

function attachmentsOf({ id, attachments }: MessageRow, baseUrl: string) {
  return attachments.map(({ id: attachmentId, filename, contentType, sizeBytes }) => ({
    id: attachmentId,
    filename,
    content_type: contentType,
    size: sizeBytes,
    url: `${baseUrl}/v1/mail/messages/${id}/attachments/${attachmentId}`,
  }));
}
