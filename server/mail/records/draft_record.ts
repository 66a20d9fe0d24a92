/** Drafts as the store holds them: rows of their inbox, changed in commits of its mailbox alone. */
import type { BlobRef } from "../../base/blobs/blobs.ts";
import type { ExtraHeader } from "./message_content.ts";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import type { StoredAnswer } from "./stored_answer.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

export interface DraftAttachment {
  /** `att_` and a number that no other attachment of the draft has had. */
  id: string;
  filename: string;
  contentType: string;
  contentId: string | null;
  /** Decoded bytes. */
  sizeBytes: number;
  /** Hex. */
  sha256: string;
  /** Where its bytes are in `files`. */
  section: number;
}

/** That a person was asked to approve a draft. */
export interface AskedApproval {
  /** The address the link goes to; another owner of the org is asked again. */
  email: string;
  /** Row of the outgoing queue that carries the link of the newest revision. */
  mailId: string;
  /** Revisions that a link was made for, the oldest first, and until when it works, unix ms. */
  links: readonly { revision: number; untilMs: number }[];
}

export interface DraftRow {
  v: 1;
  /** `dft_` and a ULID. */
  id: string;
  orgId: string;
  inboxId: string;
  inReplyToMessageId: string | null;
  to: readonly MailAddress[];
  cc: readonly MailAddress[];
  bcc: readonly MailAddress[];
  subject: string | null;
  replyTo: readonly MailAddress[];
  labels: readonly string[];
  sendAtMs: number | null;
  attachments: readonly DraftAttachment[];
  /** Number of the next attachment. */
  nextAttachment: number;
  /**
   * What was taken out of the HTML, which is reduced (reducing/reduce_html.ts); null where it is as it was
   * given. Rows of former versions have none.
   */
  reduced?: readonly string[] | null;
  /** One section: JSON of DraftTexts. */
  texts: BlobRef;
  /** A section for each attachment; null without any. */
  files: BlobRef | null;
  /** From 1. */
  revision: number;
  contentHash: string;
  /** `key_` and a ULID: the key that made it. */
  createdByKey: string;
  /** Whether all of it was written by that key; absent where that is not known. */
  isOfOneKey?: boolean;
  clientId: string | null;
  createdAtMs: number;
  updatedAtMs: number;
  /** Null until somebody is asked. */
  asked: AskedApproval | null;
  /** The answer under an Idempotency-Key that showed it; absent where none did. */
  answer?: StoredAnswer;
}

/** What is too long for a row. */
export interface DraftTexts {
  text: string | null;
  html: string | null;
  /** Headers of a message that a key wanted to send; drafts made as such have none. */
  headers: readonly ExtraHeader[];
}

export const draftKey = defineRow<[orgId: string, inboxId: string, draftId: string]>(
  ["mail-draft"],
  3,
  {
    holds: "a draft, at most 48 KiB; its texts and its attachments are two blobs",
    expires: "until sent or discarded",
  },
);

export const draftClientIdKey = defineRow<[orgId: string, inboxId: string, clientId: string]>(
  ["mail-draft-client-id"],
  3,
  { holds: "the draft that was made under a client_id", expires: "with its draft" },
);

export const draftOwnerKey = defineRow<[draftId: string]>(["mail-draft-owner"], 1, {
  holds: "org and inbox of a draft, for the page that its id alone leads to",
  expires: "with its draft",
});

export interface DraftOwnerRow {
  v: 1;
  orgId: string;
  inboxId: string;
}

/** The key that wrote all of a draft; null where it is not one key's. Pure. */
export function writerOf(row: Pick<DraftRow, "createdByKey" | "isOfOneKey">): string | null {
  return row.isOfOneKey === true ? row.createdByKey : null;
}

/** Bytes that the blobs of a draft take of its org's storage. Pure. */
export function draftBytes(
  { texts, files }: { texts: BlobRef | null; files: BlobRef | null },
): number {
  return [...texts?.sections ?? [], ...files?.sections ?? []]
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
