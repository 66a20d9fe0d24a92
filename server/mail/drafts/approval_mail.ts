/**
 * The mail that asks a person to approve drafts. It says nothing that an agent wrote: what a draft says
 * stands on its page alone.
 */
import {
  composeNotice,
  minuteOf,
  type NoticeBlock,
  type NoticeHeaders,
} from "../../base/notices/notice_mail.ts";

export interface AskedDraft {
  /** URL of its page, with the token. */
  url: string;
  /** Address of the inbox that it would go out from. */
  address: string;
  recipients: number;
  /** First characters of the key that made it; null where the key has gone. */
  keyPrefix: string | null;
  /** How long the link works, unix ms. */
  untilMs: number;
}

export interface ApprovalMail extends Omit<NoticeHeaders, "subject"> {
  /** {base_url}, without a trailing slash. */
  baseUrl: string;
  asked: readonly AskedDraft[];
  /** How many more drafts wait. */
  more: number;
}

/** The message (RFC 5322) as it is sent. */
export async function composeApprovalMail(mail: ApprovalMail): Promise<Uint8Array> {
  const { baseUrl, asked, more } = mail;
  const { host } = new URL(baseUrl);
  const count = asked.length + more;
  const [first] = asked;
  const isOne = count === 1 && first !== undefined;
  const subject = isOne
    ? `A mail waits for your approval at ${host}`
    : `${count} mails wait for your approval at ${host}`;
  const blocks: NoticeBlock[] = isOne
    ? [
      `An agent wrote a mail from ${first.address} at ${baseUrl}, to ${
        recipients(first.recipients)
      }. ${writer(first)}`,
      { label: "See all of it, then approve or reject it", url: first.url },
      until(first.untilMs),
    ]
    : [
      `Agents wrote ${count} mails at ${baseUrl}. See all of each, then approve or reject it.`,
      ...asked.map(({ address, recipients: to, url }) => ({
        label: `From ${address}, to ${recipients(to)}`,
        url,
      })),
      ...(more === 0 ? [] : [`${more} more are not named here: decide on some of these first.`]),
      until(Math.min(...asked.map(({ untilMs }) => untilMs))),
    ];
  blocks.push("Do nothing, and nothing is sent.");
  return await composeNotice({ ...mail, subject, blocks });
}

function recipients(count: number): string {
  return count === 1 ? "one recipient" : count === 0 ? "nobody yet" : `${count} recipients`;
}

function writer({ keyPrefix }: AskedDraft): string {
  return keyPrefix === null
    ? "The API key that made it is deleted."
    : `It was made by the API key that begins with ${keyPrefix}.`;
}

function until(untilMs: number): string {
  return `The link works until ${
    minuteOf(untilMs)
  }, for the mail as it stands: if it is changed, you are asked again.`;
}
