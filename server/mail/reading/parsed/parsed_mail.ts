/** What parsing finds in a message: plain data, as the worker hands it over (docs/mail.md). */

export interface MailAddress {
  /** Decoded display name; null where there is none. */
  name: string | null;
  /** As given, except the domain, which is in A-labels; checked no further than an addr-spec is. */
  address: string;
}

/** What stands in `automated` of a message. */
export type Automated = "none" | "auto_reply" | "bulk" | "bounce";

export interface FoundCode {
  value: string;
  kind: "numeric" | "alphanumeric";
}

export interface FoundLink {
  url: string;
  text: string;
}

export interface FoundAttachment {
  /** `att_` and its index among the attachments, from 0. */
  id: string;
  filename: string | null;
  contentType: string;
  /** Decoded bytes. */
  sizeBytes: number;
  disposition: "attachment" | "inline";
  contentId: string | null;
  /** SHA-256 of the decoded bytes, hex. */
  sha256: string;
}

/** What is short enough for the record of a message; longer lists are cut and named in parseWarnings. */
export interface ParsedFacts {
  from: MailAddress | null;
  replyTo: MailAddress[];
  to: MailAddress[];
  cc: MailAddress[];
  /** Decoded, without line ends; null without a Subject. */
  subject: string | null;
  /** First 200 code points of the extracted text, white space collapsed; "" without any. */
  preview: string;
  /** Where the signature begins in the extracted text, in code points; null where none does. */
  signature: number | null;
  /** What `text` was made of: html where all of it was converted. */
  textSource: "plain" | "html" | "mixed" | "none";
  attachments: FoundAttachment[];
  /** Without brackets; null where missing or not of the form that is kept. */
  rfcMessageId: string | null;
  inReplyTo: string | null;
  references: string[];
  automated: Automated;
  hiddenTextRemoved: boolean;
  parseWarnings: ParseWarning[];
  codes: FoundCode[];
}

/** What lies in the blob of a message. */
export interface ParsedTexts {
  /** The plain text of alternatives, and the HTML of others converted; null where there is no body. */
  text: string | null;
  /** The HTML parts that are shown, in order. */
  html: string | null;
  /** What mail programs show, the HTML of alternatives; null where that is `text`. */
  shown: string | null;
  /** What is shown without quoted former messages; null where text is. */
  extractedText: string | null;
  /** Lowercased names to decoded values, in order; 64 KiB in all. */
  headers: Record<string, string[]>;
  links: FoundLink[];
}

export interface ParsedMail {
  facts: ParsedFacts;
  texts: ParsedTexts;
}

/** What parsing could not do or had to cut; the message is stored all the same. */
export type ParseWarning =
  | "too_many_parts"
  | "nested_too_deep"
  | "headers_too_large"
  | "headers_cut"
  | "timed_out"
  | "parser_failed"
  | "unknown_charset"
  | "broken_encoding"
  | "broken_structure"
  | "several_from"
  | "invalid_from"
  /** Said of the sender's checks: answers go to From, see sender_checks/conclude_auth.ts. */
  | "reply_to_unsigned"
  | "addresses_cut"
  | "references_cut"
  | "attachments_cut"
  | "links_cut"
  | "subject_cut"
  | "text_cut"
  /** Style sheets were judged in a part of the HTML alone: what they hide may stand in the text. */
  | "too_complex"
  /** Styles that cannot be judged may hide some of the text, or show what was left out. */
  | "styles_not_judged"
  /** What the plain text says is not what the HTML shows. */
  | "alternatives_differ";

/** What parsing has to know in addition to the bytes. */
export interface ParseContext {
  /** Envelope sender, "" for the null one. */
  envelopeFrom: string;
  limits: { parts: number; depth: number };
  /** Texts of a message of our own, which are shown as they were given. */
  given?: { text: string | null; html: string | null };
}
