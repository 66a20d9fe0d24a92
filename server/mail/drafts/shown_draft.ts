/** Drafts as answers show them (mail page, "Records"). Pure. */
import { timestamp } from "../../timestamp.ts";
import type { DraftRow, DraftTexts } from "../records/draft_record.ts";

/** As lists have it: without its texts. */
export function shownDraft(row: DraftRow) {
  return {
    id: row.id,
    inbox_id: row.inboxId,
    in_reply_to_message_id: row.inReplyToMessageId,
    to: row.to,
    cc: row.cc,
    bcc: row.bcc,
    reply_to: row.replyTo,
    subject: row.subject,
    attachments: row.attachments.map((attachment) => ({
      id: attachment.id,
      filename: attachment.filename,
      content_type: attachment.contentType,
      size: attachment.sizeBytes,
      disposition: attachment.contentId === null ? "attachment" : "inline",
      content_id: attachment.contentId,
      sha256: attachment.sha256,
    })),
    labels: row.labels,
    send_at: row.sendAtMs === null ? null : timestamp(row.sendAtMs),
    html_reduced: row.reduced ?? [],
    revision: row.revision,
    content_hash: row.contentHash,
    created_by_key: row.createdByKey,
    created_at: timestamp(row.createdAtMs),
    updated_at: timestamp(row.updatedAtMs),
  };
}

/** A whole draft. */
export function wholeDraft(row: DraftRow, { text, html, headers }: DraftTexts) {
  return {
    ...shownDraft(row),
    text,
    html,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
  };
}
