/** So much of a message is read. */
export const READ_BYTES = 256 * 1024;

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
  /** What this takes in memory, about. */
  sizeBytes: number;
}
