/** The mails that carry links: plain text and HTML. Nothing in them was chosen by a stranger. */
import { html } from "hono/html";
import MailComposer from "nodemailer/lib/mail-composer";
import type { Html } from "../../pages/html.ts";
import { asciiPart } from "../../outgoing/ascii_part.ts";
import type { LinkRecord } from "../records/link_record.ts";
import type { LinkKind } from "./link_token.ts";

export interface LinkMail {
  from: { name: string; address: string };
  /** {base_url}, without a trailing slash. */
  baseUrl: string;
  link: LinkRecord;
  token: string;
  /** Left of the @ of the Message-ID, the same at every attempt. */
  messageId: string;
  atMs: number;
}

/** Where the button "not me" stands on the page of a claim. */
export const NOT_ME = "not-me";

/** Paths of links by what they are for: a restore link is a claim that is taken back. */
export const CONFIRM_PATHS: Readonly<Record<LinkKind, string>> = {
  magic: "/v1/mail/org/magic/confirm",
  claim: "/v1/mail/org/claim/confirm",
  restore: "/v1/mail/org/claim/confirm",
};

interface Words {
  subject: string;
  /** Paragraphs before the link. */
  before: readonly string[];
  /** What the link does. */
  action: string;
  /** Paragraphs after it. */
  after: readonly string[];
  /** A second link, and what it is for. */
  second?: { label: string; url: string };
}

/** The message (RFC 5322) as it is sent. */
export async function composeLinkMail(mail: LinkMail): Promise<Uint8Array> {
  const { from, baseUrl, link, token, messageId, atMs } = mail;
  const url = `${baseUrl}${CONFIRM_PATHS[link.kind]}?token=${token}`;
  const words = wordsOf(mail, url);
  const composer = new MailComposer({
    from,
    to: { name: "", address: link.email },
    subject: words.subject,
    date: new Date(atMs),
    messageId: `<${messageId}@${from.address.split("@")[1]}>`,
    text: { raw: asciiPart("text/plain", plainText(words, url)) },
    html: { raw: asciiPart("text/html", await htmlText(words, url)) },
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

function wordsOf({ link, baseUrl }: LinkMail, url: string): Words {
  const { host } = new URL(baseUrl);
  const until = `It works once, until ${minuteOf(link.expiresAtMs)}.`;
  if (link.kind === "magic") {
    return {
      subject: `Sign in to ${host}`,
      before: [`Somebody at ${link.askedFrom} asked to sign in to the mail of ${baseUrl}.`],
      action: "Sign in",
      after: [
        `${until} You get an API key, which is shown once.`,
        "You did not ask for it? Then do nothing: without the link nobody gets in.",
      ],
    };
  }
  const who = `the API key that begins with ${link.keyPrefix}, used from ${link.askedFrom}`;
  if (link.kind === "claim") {
    return {
      subject: `Confirm a mail org at ${host}`,
      before: [
        `The mail org ${link.orgId} at ${baseUrl} names this address as its owner's.`,
        `It was asked by ${who}.`,
      ],
      action: "Confirm that the org is yours",
      after: [
        `${until} Confirm only an org that you know: its agents then send mail in your name.`,
      ],
      second: { label: "This was not me", url: `${url}#${NOT_ME}` },
    };
  }
  return {
    subject: `A mail org of yours has changed its owner at ${host}`,
    before: [
      `The owner of the mail org ${link.orgId} at ${baseUrl} was changed on ${
        minuteOf(link.sinceMs)
      }: until then it was yours.`,
      `It was asked by ${who}.`,
    ],
    action: "Take the org back",
    after: [
      `${until} It puts your address and your identity back, and deletes the API keys made since.`,
      "You made the change yourself? Then do nothing.",
    ],
  };
}

function plainText({ before, action, after, second }: Words, url: string): string {
  const more = second === undefined ? [] : ["", `${second.label}:`, second.url];
  return [...before, "", `${action}:`, url, "", ...after, ...more, ""].join("\n");
}

async function htmlText(
  { subject, before, action, after, second }: Words,
  url: string,
): Promise<string> {
  const paragraphs = (texts: readonly string[]): Html[] =>
    texts.map((text) => html`<p>${text}</p>\n`);
  const more = second === undefined
    ? ""
    : html`<p><a href="${second.url}">${second.label}</a></p>\n`;
  // deno-fmt-ignore
  const page = html`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
<body>
${paragraphs(before)}<p><a href="${url}">${action}</a></p>
${paragraphs(after)}${more}</body></html>
`;
  return String(await page);
}
