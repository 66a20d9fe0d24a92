/** A plain mail as a person's program would send it (RFC 5322). */
import { Buffer } from "node:buffer";
import MailComposer from "nodemailer/lib/mail-composer";
import type { Deps } from "../../base/parts/deps.ts";

export interface PlainMail {
  from: { name: string; address: string };
  to: readonly string[];
  subject: string;
  text: string;
  /** What it answers, without brackets. */
  inReplyTo?: string | null;
  references?: readonly string[];
  /** Whether a program answers by itself (RFC 3834). */
  isAutoReply?: boolean;
}

/** What tells one composed mail from another. */
export interface MailStamp {
  /** Date, Unix ms. */
  atMs: number;
  /** Left of the @ of the Message-ID: fresh random [a-z0-9.]. Boundaries are made of it too. */
  id: string;
}

export function newMailStamp({ now, random }: Pick<Deps, "now" | "random">): MailStamp {
  return { atMs: now(), id: `dev.${Buffer.from(random(16)).toString("hex")}` };
}

export async function composePlainMail(
  { from, to, subject, text, inReplyTo, references = [], isAutoReply = false }: PlainMail,
  { atMs, id }: MailStamp,
): Promise<Uint8Array<ArrayBuffer>> {
  const composer = new MailComposer({
    from,
    to: to.map((address) => ({ name: "", address })),
    subject,
    date: new Date(atMs),
    messageId: `<${id}@${domainOf(from.address)}>`,
    ...(inReplyTo == null ? {} : { inReplyTo: `<${inReplyTo}>` }),
    ...(references.length === 0 ? {} : { references: references.map((one) => `<${one}>`) }),
    text: text.replaceAll(/\r\n|\r|\n/g, "\r\n"),
    headers: isAutoReply ? { "Auto-Submitted": "auto-replied" } : {},
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return new Uint8Array(await composer.compile().build());
}

/** A dot-atom and a domain name (RFC 5322, section 3.4.1): nothing that a header would have to quote. */
const ADDR_SPEC = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]+$/;
const MAX_LENGTH = 254;

export function isAddrSpec(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_LENGTH && ADDR_SPEC.test(value);
}

/** What stands right of the @. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}
