/** Drafts as messages to send. Pure. */
import { RelayError } from "../../base/errors.ts";
import type { NewAttachment } from "../records/message_content.ts";
import type { DraftRow, DraftTexts } from "../records/draft_record.ts";
import type { MessageRow } from "../records/message_record.ts";
import { answerAutoSubmitted, answerReferences } from "../sending/answer_headers.ts";
import { requireBody } from "../composing/requests/read_bodies.ts";
import { requireRecipient } from "../composing/requests/read_send.ts";
import type { MessageToSend } from "../sending/sender.ts";

/**
 * The message that a draft is.
 * @param about the message that it answers; null where there is none, or where it has gone
 * @param nowMs a time to send that has passed means at once
 * @throws RelayError `invalid_json` for what lacks a recipient or a text
 */
export function draftMessage(
  { row, texts, attachments, about }: {
    row: DraftRow;
    texts: DraftTexts;
    attachments: NewAttachment[];
    about: MessageRow | null;
  },
  nowMs: number,
): MessageToSend {
  const { to, cc, bcc, subject, replyTo, labels, sendAtMs } = row;
  const { text, html, headers } = texts;
  requireRecipient({ to });
  requireBody({ text, html });
  return {
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    subject,
    text,
    html,
    attachments,
    headers: [...headers],
    replyTo: [...replyTo],
    labels: [...labels],
    sendAtMs: sendAtMs !== null && sendAtMs > nowMs ? sendAtMs : null,
    ...(about === null ? { inReplyTo: null, references: [] } : answerReferences(about)),
    autoSubmitted: about === null ? null : answerAutoSubmitted(about),
    about,
  };
}

/** What a draft lacks to be sent, in words; null where nothing. */
export function missingOf(row: Pick<DraftRow, "to">, texts: DraftTexts): string | null {
  try {
    requireRecipient(row);
    requireBody(texts);
    return null;
  } catch (error) {
    if (error instanceof RelayError) return error.message;
    throw error;
  }
}
