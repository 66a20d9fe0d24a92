/**
 * The message (RFC 5322) as it is stored and sent. Runs in the mail worker too: it reads no clock, no
 * randomness, no file and no network, and takes plain data alone.
 */
import { Buffer } from "node:buffer";
import MimeNode from "nodemailer/lib/mime-node";
import { buildHeaderValue } from "nodemailer/lib/mime-funcs";
import { readHtmlText } from "../reading/html/html_text.ts";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import { addressField, fold, idField, textField } from "./header_field.ts";
import type { ExtraHeader, NewAttachment } from "../records/message_content.ts";
import { type DkimKey, signDkim } from "./sign_dkim.ts";
import { crlf, requireWireForm } from "./wire_form.ts";

/** A message to compose. It has no Bcc: who is in it must not be able to show. */
export interface MailToCompose {
  from: MailAddress;
  to: readonly MailAddress[];
  cc: readonly MailAddress[];
  replyTo: readonly MailAddress[];
  /** One line; null for none. */
  subject: string | null;
  /** Not empty; null for none. One of both is there. */
  text: string | null;
  html: string | null;
  attachments: readonly NewAttachment[];
  /** Names begin with X-. */
  headers: readonly ExtraHeader[];
  /** Without brackets. */
  messageId: string;
  /** Unix ms. */
  dateMs: number;
  /** Without brackets. */
  inReplyTo: string | null;
  references: readonly string[];
  autoSubmitted: "auto-replied" | null;
  /** Fresh random characters of [a-z0-9], which no content can know: boundaries are made of them. */
  boundary: string;
  /** Null where the operator has no key. */
  dkim: DkimKey | null;
}

const BOUNDARY = /^[a-z0-9]{16,64}$/;
const CONTENT_ID = /^[\x21\x23-\x27\x2a\x2b\x2d-\x39\x3d\x3f-\x5a\x5e-\x7e]{1,250}$/;

/** Composes and signs a message at once: composeInSlices() to its end. */
export async function composeMail(mail: MailToCompose): Promise<Uint8Array<ArrayBuffer>> {
  const work = composeInSlices(mail);
  for (;;) {
    const step = await work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Composes and signs a message. The same input gives the same bytes. Yields null where others may
 * run.
 * @throws TypeError for what the readers of requests let nobody send
 */
export async function* composeInSlices(
  mail: MailToCompose,
): AsyncGenerator<null, Uint8Array<ArrayBuffer>> {
  if (!BOUNDARY.test(mail.boundary)) throw new TypeError("a boundary is random [a-z0-9]");
  const html = mail.html === null ? null : crlf(mail.html);
  const text = mail.text ?? (html === null ? null : (yield* readHtmlText(html)).text);
  const tree = mimeTree(mail, text, html);
  tree.setHeader("Date", new Date(mail.dateMs));
  yield null;
  const built = await tree.build();
  yield null;
  // The library writes Date and what MIME needs, these fields are ours: see header_field.ts.
  const header = Buffer.from(ownFields(mail).map((field) => `${field}\r\n`).join(""), "latin1");
  const message = Buffer.concat([header, built]);
  requireWireForm(message);
  yield null;
  if (mail.dkim === null) return new Uint8Array(message);
  return new Uint8Array(Buffer.concat([Buffer.from(signDkim(message, mail.dkim)), message]));
}

function ownFields(mail: MailToCompose): string[] {
  const { from, to, cc, replyTo, subject, headers, inReplyTo, references, autoSubmitted } = mail;
  return [
    addressField("From", [from]),
    addressField("To", to),
    ...(cc.length === 0 ? [] : [addressField("Cc", cc)]),
    ...(replyTo.length === 0 ? [] : [addressField("Reply-To", replyTo)]),
    ...(subject === null ? [] : [textField("Subject", subject)]),
    ...(inReplyTo === null ? [] : [idField("In-Reply-To", [inReplyTo])]),
    ...(references.length === 0 ? [] : [idField("References", references)]),
    ...(autoSubmitted === null ? [] : [fold("Auto-Submitted", [autoSubmitted])]),
    ...headers.map(({ name, value }) => {
      if (!/^X-/i.test(name)) throw new TypeError("a sender's own header begins with X-");
      return textField(name, value);
    }),
  ];
}

/** mixed(related?(alternative?(text, html), inline), attached), without the levels that hold one part. */
function mimeTree(mail: MailToCompose, text: string | null, html: string | null): MimeNode {
  const { attachments } = mail;
  const inline = html === null ? [] : attachments.filter(({ contentId }) => contentId !== null);
  const attached = attachments.filter((attachment) => !inline.includes(attachment));

  const grow: Grow[] = [];
  if (text !== null && text !== "") grow.push(textPart("text/plain", crlf(text)));
  if (html !== null) {
    const part = textPart("text/html", html);
    grow.push(
      inline.length === 0
        ? part
        : multipart('multipart/related; type="text/html"', [part, ...inline.map(attachmentPart)]),
    );
  }
  if (grow.length === 0) throw new TypeError("a message has text or html");
  const body = grow.length === 1 ? grow[0]! : multipart("multipart/alternative", grow);
  const whole = attached.length === 0
    ? body
    : multipart("multipart/mixed", [body, ...attached.map(attachmentPart)]);
  return whole((contentType) => {
    const root = new MimeNode(contentType, { ...CLOSED, baseBoundary: mail.boundary });
    root.setHeader("Message-ID", `<${requireId(mail.messageId)}>`);
    return root;
  });
}

/** Makes a part where `place` puts it: as the root, or as a child. */
type Grow = (place: (contentType?: string) => MimeNode) => MimeNode;

/** Contents are strings and bytes; what names a file or an address is not even looked at. */
const CLOSED = { disableFileAccess: true, disableUrlAccess: true };

function multipart(contentType: string, parts: readonly Grow[]): Grow {
  return (place) => {
    const node = place(contentType);
    for (const part of parts) part((type) => node.createChild(type, CLOSED));
    return node;
  };
}

function textPart(type: string, content: string): Grow {
  return (place) => place(`${type}; charset=utf-8`).setContent(content);
}

function attachmentPart({ filename, contentType, contentId, content }: NewAttachment): Grow {
  if (!(content instanceof Uint8Array)) throw new TypeError("an attachment is bytes");
  if (/^(?:multipart|message)\//i.test(contentType)) {
    throw new TypeError("an attachment is no message");
  }
  return (place) => {
    const node = place();
    const set = (name: string, tokens: readonly string[]) => {
      const value = fold(name, tokens).slice(name.length + 2);
      node.setHeader(name, { prepared: true, value });
    };
    set("Content-Type", [contentType]);
    node.setHeader("Content-Transfer-Encoding", "base64");
    const disposition = contentId === null ? "attachment" : "inline";
    set("Content-Disposition", dispositionTokens(disposition, filename));
    if (contentId !== null) {
      if (!CONTENT_ID.test(contentId)) throw new TypeError("not a Content-ID");
      set("Content-ID", [`<${contentId}>`]);
    }
    return node.setContent(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
  };
}

/** The disposition and the file name, in sections where it is long or no plain ASCII (RFC 2231). */
function dispositionTokens(disposition: string, filename: string): string[] {
  const value = buildHeaderValue({ value: disposition, params: { filename } });
  return value.split(/(?<=;) (?=filename)/);
}

function requireId(messageId: string): string {
  if (/^[\x21-\x3b\x3d\x3f-\x7e]{1,250}$/.test(messageId)) return messageId;
  throw new TypeError("not a Message-ID");
}
