/** So much of a message is read. */
export const READ_BYTES = 256 * 1024;
/** Parts of a message that are looked at. */
export const READ_LIMITS = { parts: 200, depth: 50 };

/** What was read of a captured mail. */

export interface MailContent {
  /** Header fields in words; empty where there is none. */
  from: string;
  to: string;
  subject: string;
  /** The plain text, and HTML as text where there is none. Links and codes are those that are shown. */
  text: string;
  /** True where something of the message is not shown. */
  isCut: boolean;
  hasHtml: boolean;
  attachments: { filename: string; content_type: string }[];
  /** URLs of http and https. */
  links: string[];
  codes: string[];
  parts: MailParts;
  /** What this takes in memory, about. */
  sizeBytes: number;
}

export interface MailPerson {
  name: string | null;
  address: string;
}

/** What pages show beside the text. */
export interface MailParts {
  /** Of the header: the envelope may say another, such as an address of bounces. */
  from: MailPerson | null;
  to: MailPerson[];
  cc: MailPerson[];
  /** The beginning of what is new in the text. */
  preview: string;
  /** As its sender wrote it; null without any. */
  html: string | null;
  /** Bytes of each attachment, in their order. */
  fileSizes: number[];
  /** What a reader has to know before the text. */
  warnings: string[];
}

export const NO_PARTS: MailParts = {
  from: null,
  to: [],
  cc: [],
  preview: "",
  html: null,
  fileSizes: [],
  warnings: [],
};
