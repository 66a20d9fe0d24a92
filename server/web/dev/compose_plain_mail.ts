/** A plain mail as a person's program would send it (RFC 5322). */
import MailComposer from "nodemailer/lib/mail-composer";
import { domainOf } from "./addr_spec.ts";
import type { MailStamp } from "./mail_stamp.ts";

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
