/** Drafts as answers show them (docs/mail.md, "An agent writes, a person sends"). Pure. */
import { timestamp } from "../../../base/time/timestamp.ts";
import { maySee } from "../../access/access.ts";
import { type DraftRow, type DraftTexts, writerOf } from "../../records/draft_record.ts";
import type { MailKey } from "../../records/key_record.ts";

/** As lists show it: without its texts. */
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

/** What is shown of a deleted draft: nothing that anybody wrote, and no address. */
export function deletedDraft(
  inboxId: string,
  { id, createdByKey, createdAtMs }: Pick<DraftRow, "id" | "createdByKey" | "createdAtMs">,
) {
  return {
    id,
    inbox_id: inboxId,
    in_reply_to_message_id: null,
    to: [],
    cc: [],
    bcc: [],
    reply_to: [],
    subject: null,
    attachments: [],
    labels: [],
    send_at: null,
    html_reduced: [],
    revision: 1,
    content_hash: "0".repeat(64),
    created_by_key: createdByKey,
    created_at: timestamp(createdAtMs),
    updated_at: timestamp(createdAtMs),
    text: null,
    html: null,
    headers: {},
  };
}

/** What a key sees of a draft that it may change and not read: nothing that anybody wrote. */
export function markedDraft(row: DraftRow) {
  const shown = shownDraft(row);
  return {
    id: shown.id,
    inbox_id: shown.inbox_id,
    in_reply_to_message_id: shown.in_reply_to_message_id,
    labels: shown.labels,
    send_at: shown.send_at,
    revision: shown.revision,
    created_by_key: shown.created_by_key,
    created_at: shown.created_at,
    updated_at: shown.updated_at,
  };
}

/** A draft as the holder of a key is answered: whole, or its marks. */
export function draftFor(
  key: Pick<MailKey, "id" | "permissions">,
  row: DraftRow,
  texts: DraftTexts,
) {
  return maySee(key, writerOf(row)) ? wholeDraft(row, texts) : markedDraft(row);
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
