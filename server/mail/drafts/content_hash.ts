/** What a draft would say, as one hash: what somebody approves is what is sent. Pure. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../toolkit/canonical_json.ts";
import type { JsonValue } from "../../../toolkit/json_value.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";

export interface HashedContent {
  to: readonly MailAddress[];
  cc: readonly MailAddress[];
  bcc: readonly MailAddress[];
  subject: string | null;
  text: string | null;
  html: string | null;
  attachments: readonly {
    filename: string;
    contentType: string;
    /** Hex. */
    sha256: string;
    contentId: string | null;
  }[];
  replyTo: readonly MailAddress[];
  /** Unix ms; null for at once. */
  sendAtMs: number | null;
}

/**
 * Hex SHA-256 of the RFC 8785 JSON of {to, cc, bcc, subject, text, html, attachments: [{filename,
 * content_type, sha256, content_id}], reply_to, send_at}: each as an answer shows it, with null for what
 * is not there.
 */
export function contentHash(content: HashedContent): string {
  const { subject, text, html } = content;
  const addresses = (list: readonly MailAddress[]): JsonValue[] =>
    list.map(({ name, address }) => ({ name, address }));
  const hashed = canonicalJson({
    to: addresses(content.to),
    cc: addresses(content.cc),
    bcc: addresses(content.bcc),
    subject,
    text,
    html,
    attachments: content.attachments.map(({ filename, contentType, sha256, contentId }) => ({
      filename,
      content_type: contentType,
      sha256,
      content_id: contentId,
    })),
    reply_to: addresses(content.replyTo),
    send_at: content.sendAtMs === null ? null : timestamp(content.sendAtMs),
  });
  return createHash("sha256").update(hashed).digest("hex");
}
