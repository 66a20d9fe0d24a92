/** Mails of the relay itself to a person: paragraphs and links, as plain text and HTML. */
import { html } from "hono/html";
import MailComposer from "nodemailer/lib/mail-composer";
import { asciiPart } from "../mailer/ascii_part.ts";
import type { Html } from "../pages/elements.ts";

/** A paragraph, or a link on a line of its own. */
export type NoticeBlock = string | { label: string; url: string };

export interface NoticeHeaders {
  from: { name: string; address: string };
  to: string;
  subject: string;
  /** Left of the @ of the Message-ID, the same at every attempt. */
  messageId: string;
  atMs: number;
}

export interface NoticeMail extends NoticeHeaders {
  /** Nothing in them that a stranger chose. */
  blocks: readonly NoticeBlock[];
}

/** The message (RFC 5322) as it is sent. */
export async function composeNotice({ blocks, ...mail }: NoticeMail): Promise<Uint8Array> {
  const body = html`\n${paragraphs(blocks)}`;
  return await composeTexts({
    ...mail,
    text: plainText(blocks),
    html: { title: mail.subject, body },
  });
}

/** The message of a plain text, and the same in HTML. @param mail.headers besides the usual ones */
export async function composeTexts(
  mail: NoticeHeaders & {
    text: string;
    html: { title: string; body: Html };
    headers?: Record<string, string | { prepared: true; value: string }>;
  },
): Promise<Uint8Array> {
  const { from, to, subject, messageId, atMs, headers } = mail;
  const composer = new MailComposer({
    from,
    to: { name: "", address: to },
    subject,
    date: new Date(atMs),
    messageId: `<${messageId}@${from.address.split("@")[1]}>`,
    text: { raw: asciiPart("text/plain", mail.text) },
    html: { raw: asciiPart("text/html", await pageOf(mail.html)) },
    headers: { "Auto-Submitted": "auto-generated", ...headers },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}

/** As people read it: "2026-11-22 07:36 UTC". */
export function minuteOf(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function plainText(blocks: readonly NoticeBlock[]): string {
  const lines = blocks.flatMap((block) =>
    typeof block === "string" ? [block] : ["", `${block.label}:`, block.url, ""]
  );
  const spaced = lines.filter((line, i) => line !== "" || lines[i - 1] !== "");
  return `${spaced.join("\n").trimEnd()}\n`;
}

function paragraphs(blocks: readonly NoticeBlock[]): Html[] {
  return blocks.map((block) =>
    // deno-fmt-ignore
    typeof block === "string" ? html`<p>${block}</p>\n` : html`<p><a href="${block.url}">${block.label}</a></p>\n`
  );
}

async function pageOf({ title, body }: { title: string; body: Html }): Promise<string> {
  // deno-fmt-ignore
  const page = html`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>
<body>${body}</body></html>
`;
  return String(await page);
}
