/** A captured mail as its pages show it: text, and what somebody would click or copy. */
import PostalMime, { type Address } from "postal-mime";
import { findCodes, findLinks } from "./links_and_codes.ts";
import { textOfHtml } from "./text_of_html.ts";

export interface MailContent {
  /** Header fields in words; empty where there is none. */
  from: string;
  to: string;
  subject: string;
  /** Plain text, that of the HTML part where there is no other. */
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

/**
 * So much of a message is read, and of its text shown. Reading holds the main thread, and the shapes
 * that the parser likes least take it 6 s a MiB.
 */
const READ_BYTES = 256 * 1024;
const SHOWN_CHARACTERS = 100_000;
const LINE_CHARACTERS = 998;
const MAX_ATTACHMENTS = 50;

/** Reads the beginning of a message (RFC 5322); what cannot be read shows nothing. */
export async function readMail(raw: Uint8Array): Promise<MailContent> {
  // Not a view: the parser works on the whole buffer of one.
  const mail = await PostalMime.parse(raw.slice(0, READ_BYTES)).catch(() => null);
  const html = mail?.html ?? "";
  const text = mail?.text || textOfHtml(html);
  const subject = line(mail?.subject);
  const shown = text.slice(0, SHOWN_CHARACTERS);
  const content = {
    from: line(mail?.from === undefined ? "" : addressText(mail.from)),
    to: line((mail?.to ?? []).slice(0, MAX_ATTACHMENTS).map(addressText).join(", ")),
    subject,
    text: shown,
    isCut: mail === null || raw.length > READ_BYTES || text.length > SHOWN_CHARACTERS,
    hasHtml: html !== "",
    attachments: (mail?.attachments ?? []).slice(0, MAX_ATTACHMENTS).map((one) => ({
      filename: line(one.filename ?? ""),
      content_type: line(one.mimeType),
    })),
    links: findLinks(shown, html.slice(0, SHOWN_CHARACTERS)),
    codes: findCodes(`${subject}\n${shown}`),
  };
  return { ...content, sizeBytes: 2 * JSON.stringify(content).length };
}

function line(text: string | undefined): string {
  return (text ?? "").replaceAll(/\s+/g, " ").trim().slice(0, LINE_CHARACTERS);
}

function addressText({ name, address, group }: Address): string {
  if (group !== undefined) return `${name}: ${group.map(addressText).join(", ")};`;
  return name === "" ? address ?? "" : `${name} <${address ?? ""}>`;
}
