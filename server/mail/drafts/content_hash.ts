/** What a draft would say, as one hash: what somebody approves is what is sent (mail page, "Drafts"). Pure. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../toolkit/canonical_json.ts";
import type { JsonValue } from "../../../toolkit/json_value.ts";
import type { MailAddress } from "../parsing/parsed_mail.ts";

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
  }[];
}

/**
 * Hex SHA-256 of the RFC 8785 JSON of {to, cc, bcc, subject, text, html, attachments: [{filename,
 * content_type, sha256}]}, with addresses as {name, address} and null for what is not there.
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
    attachments: content.attachments.map(({ filename, contentType, sha256 }) => ({
      filename,
      content_type: contentType,
      sha256,
    })),
  });
  return createHash("sha256").update(hashed).digest("hex");
}
