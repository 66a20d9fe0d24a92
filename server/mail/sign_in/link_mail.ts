/** The mails of links, and of a notice without one. Nothing in them was chosen by a stranger. */
import { composeNotice, minuteOf, type NoticeMail } from "../../base/notices/notice_mail.ts";
import type { ClaimLink, LinkRecord } from "../records/link_record.ts";
import type { LinkKind } from "../access/link_token.ts";

export interface LinkMail extends Pick<NoticeMail, "from" | "messageId" | "atMs"> {
  link: LinkRecord;
  /** Opens the link; empty for a notice, which has none. */
  token: string;
  /** {base_url}, without a trailing slash. */
  baseUrl: string;
}

/** Where the button "not me" stands on the page of a claim. */
export const NOT_ME = "not-me";

/** Paths of links by what they are for: a restore link is a claim that is taken back. */
export const CONFIRM_PATHS: Readonly<Record<LinkKind, string>> = {
  magic: "/v1/mail/org/magic/confirm",
  claim: "/v1/mail/org/claim/confirm",
  restore: "/v1/mail/org/claim/confirm",
};

/** The message (RFC 5322) as it is sent. */
export async function composeLinkMail(mail: LinkMail): Promise<Uint8Array> {
  return await composeNotice({ ...mail, to: mail.link.email, ...wordsOf(mail) });
}

function wordsOf({ link, token, baseUrl }: LinkMail): Pick<NoticeMail, "subject" | "blocks"> {
  const { host } = new URL(baseUrl);
  const urlOf = (kind: LinkKind) => `${baseUrl}${CONFIRM_PATHS[kind]}?token=${token}`;
  const until = `It works once, until ${minuteOf(link.expiresAtMs)}.`;
  if (link.kind === "magic") {
    return {
      subject: `Sign in to ${host}`,
      blocks: [
        `Somebody at ${link.askedFrom} asked to sign in to the mail of ${baseUrl}.`,
        { label: "Sign in", url: urlOf("magic") },
        `${until} You get an API key, which is shown once.`,
        "You did not ask for it? Then do nothing: without the link nobody gets in.",
      ],
    };
  }
  if (link.kind === "claim") {
    const url = urlOf("claim");
    return {
      subject: `Confirm a mail org at ${host}`,
      blocks: [
        `The mail org ${link.orgId} at ${baseUrl} names this address as its owner's.`,
        askedBy(link),
        { label: "Confirm that the org is yours", url },
        `${until} Confirm only an org that you know: its agents then send mail in your name.`,
        { label: "This was not me", url: `${url}#${NOT_ME}` },
      ],
    };
  }
  const subject = `A mail org of yours has changed its owner at ${host}`;
  const changed = `The owner of the mail org ${link.orgId} at ${baseUrl} was changed on ${
    minuteOf(link.sinceMs)
  }: until then it was yours.`;
  if (link.kind === "restore") {
    return {
      subject,
      blocks: [
        changed,
        askedBy(link),
        { label: "Take the org back", url: urlOf("restore") },
        `${until} It puts your address and your identity back, and deletes the API keys made since.`,
        "You made the change yourself? Then do nothing.",
      ],
    };
  }
  return {
    subject,
    blocks: [ // who took it back is not named
      changed,
      "No link takes it back for you: that is for those who owned it before you in the 7 days before " +
      "the change, and one of them may have done it.",
      "Keys that were made while it was yours may open nothing any more.",
    ],
  };
}

function askedBy({ keyPrefix, askedFrom }: Pick<ClaimLink, "keyPrefix" | "askedFrom">): string {
  return `It was asked by the API key that begins with ${keyPrefix}, used from ${askedFrom}.`;
}
