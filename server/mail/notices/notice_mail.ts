/** Mails of the relay itself to a person: paragraphs and links, as plain text and HTML. */
import { html } from "hono/html";
import MailComposer from "nodemailer/lib/mail-composer";
import { asciiPart } from "../../base/mailer/ascii_part.ts";

/** A paragraph, or a link on a line of its own. */
export type NoticeBlock = string | { label: string; url: string };

export interface NoticeMail {
  from: { name: string; address: string };
  to: string;
  subject: string;
  /** Nothing in them that a stranger chose. */
  blocks: readonly NoticeBlock[];
  /** Left of the @ of the Message-ID, the same at every attempt. */
  messageId: string;
  atMs: number;
}

/** The message (RFC 5322) as it is sent. */
export async function composeNotice(mail: NoticeMail): Promise<Uint8Array> {
  const { from, to, subject, blocks, messageId, atMs } = mail;
  const composer = new MailComposer({
    from,
    to: { name: "", address: to },
    subject,
    date: new Date(atMs),
    messageId: `<${messageId}@${from.address.split("@")[1]}>`,
    text: { raw: asciiPart("text/plain", plainText(blocks)) },
    html: { raw: asciiPart("text/html", await htmlText(subject, blocks)) },
    headers: { "Auto-Submitted": "auto-generated" },
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

async function htmlText(subject: string, blocks: readonly NoticeBlock[]): Promise<string> {
  const paragraphs = blocks.map((block) =>
    // deno-fmt-ignore
    typeof block === "string" ? html`<p>${block}</p>\n` : html`<p><a href="${block.url}">${block.label}</a></p>\n`
  );
  // deno-fmt-ignore
  const page = html`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
<body>
${paragraphs}</body></html>
`;
  return String(await page);
}
