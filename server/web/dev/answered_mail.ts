/** What somebody who answers a captured mail takes from its header. */
import { Buffer } from "node:buffer";
import PostalMime, { type Address } from "postal-mime";
import { isAddrSpec } from "./compose_plain_mail.ts";
import type { CapturedMail } from "./captured_mails.ts";

export interface AnsweredMail {
  /** Where a reply goes: Reply-To, else From; empty where neither has an address. */
  replyTo: string[];
  /** From in words. */
  from: string;
  subject: string;
  /** Without brackets; null where there is none. */
  messageId: string | null;
  /** References of an answer, without brackets: the mail's own, and the mail itself. */
  references: string[];
  /** The part of the text that is shown. */
  text: string;
  /** The header as it was sent, ASCII, with CRLF at the end of each line. */
  header: string;
}

/** More of a header is not read. */
const HEADER_BYTES = 64 * 1024;
const MAX_REPLY_TO = 50;
const MAX_REFERENCES = 50;
const MESSAGE_ID = /<([\x21-\x3b\x3d\x3f-\x7e]{1,250})>/g;

export async function readAnswered({ raw, content }: CapturedMail): Promise<AnsweredMail> {
  const header = headerOf(raw);
  const mail = await PostalMime.parse(Buffer.from(`${header}\r\n`)).catch(() => null);
  const replyTo = mailboxesOf(mail?.replyTo ?? []);
  const messageId = idsOf(mail?.messageId)[0] ?? null;
  return {
    replyTo: replyTo.length > 0
      ? replyTo
      : mailboxesOf(mail?.from === undefined ? [] : [mail.from]),
    from: content.from,
    subject: content.subject,
    messageId,
    references: referencesOf(idsOf(mail?.references), messageId),
    text: content.text,
    header,
  };
}

/** The lines before the first empty one; what is not ASCII becomes "?". */
function headerOf(raw: Uint8Array): string {
  const begin = Buffer.from(raw.subarray(0, HEADER_BYTES)).toString("latin1");
  const [header] = begin.split(/\r?\n\r?\n/, 1);
  // deno-lint-ignore no-control-regex
  const lines = header!.replaceAll(/[^\x09\x0a\x20-\x7e]/g, (c) => c === "\r" ? "" : "?").split(
    "\n",
  );
  return lines.filter((line) => line !== "").map((line) => `${line}\r\n`).join("");
}

function mailboxesOf(addresses: readonly Address[]): string[] {
  const found = addresses.flatMap(({ address, group }) =>
    (group ?? [{ address }]).map((mailbox) => mailbox.address).filter(isAddrSpec)
  );
  return [...new Set(found)].slice(0, MAX_REPLY_TO);
}

function idsOf(value: string | undefined): string[] {
  return [...(value ?? "").matchAll(MESSAGE_ID)].map(([, id]) => id!);
}

/** The first of a conversation stays, the others make room (RFC 5322, section 3.6.4). */
function referencesOf(former: readonly string[], messageId: string | null): string[] {
  const all = [...new Set([...former, ...(messageId === null ? [] : [messageId])])];
  return all.length <= MAX_REFERENCES
    ? all
    : [all[0]!, ...all.slice(all.length - MAX_REFERENCES + 1)];
}
