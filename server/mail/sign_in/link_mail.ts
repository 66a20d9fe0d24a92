/** The mails that carry links. Nothing in them was chosen by a stranger. */
import { composeNotice, minuteOf } from "../notice_mail.ts";
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
  const { subject, before, action, after, second } = wordsOf(mail, url);
  const blocks = [...before, { label: action, url }, ...after, ...(second ? [second] : [])];
  return await composeNotice({ from, to: link.email, subject, blocks, messageId, atMs });
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
