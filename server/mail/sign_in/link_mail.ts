/** The mails that carry links. Nothing in them was chosen by a stranger. */
import { composeNotice, minuteOf } from "../notice_mail.ts";
import type { DisplacedNotice, OpeningLink } from "../records/link_record.ts";
import type { LinkKind } from "./link_token.ts";

interface Mail {
  from: { name: string; address: string };
  /** {base_url}, without a trailing slash. */
  baseUrl: string;
  /** Left of the @ of the Message-ID, the same at every attempt. */
  messageId: string;
  atMs: number;
}

export interface LinkMail extends Mail {
  link: OpeningLink;
  token: string;
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

/** Tells who owned an org that it is not theirs any more: who took it back is not named. */
export async function composeDisplacedMail(
  { from, baseUrl, notice, messageId, atMs }: Mail & {
    notice: Pick<DisplacedNotice, "orgId" | "email" | "sinceMs">;
  },
): Promise<Uint8Array> {
  const { orgId, email, sinceMs } = notice;
  return await composeNotice({
    from,
    to: email,
    subject: changedSubject(baseUrl),
    blocks: [
      changedSentence(orgId, baseUrl, sinceMs),
      "No link takes it back for you: that is for those who owned it before you in the 7 days before " +
      "the change, and one of them may have done it.",
      "Keys that were made while it was yours may open nothing any more.",
    ],
    messageId,
    atMs,
  });
}

function changedSubject(baseUrl: string): string {
  return `A mail org of yours has changed its owner at ${new URL(baseUrl).host}`;
}

function changedSentence(orgId: string, baseUrl: string, sinceMs: number): string {
  return `The owner of the mail org ${orgId} at ${baseUrl} was changed on ${
    minuteOf(sinceMs)
  }: until then it was yours.`;
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
    subject: changedSubject(baseUrl),
    before: [
      changedSentence(link.orgId, baseUrl, link.sinceMs),
      `It was asked by ${who}.`,
    ],
    action: "Take the org back",
    after: [
      `${until} It puts your address and your identity back, and deletes the API keys made since.`,
      "You made the change yourself? Then do nothing.",
    ],
  };
}
