/** Links in the mails of a relay in local mode, and those who follow them. */
import { delay } from "./pace.ts";
import { askMail, type MailAnswer } from "./mail_relay.ts";
import type { TestRelay } from "./relay.ts";

/** What a browser sends when somebody opens a page. */
export const BROWSER = {
  Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
  "Sec-Fetch-Mode": "navigate",
};
/** What a program sends that follows a link. */
export const PROGRAM = { Accept: "application/json" };
export const MAGIC_CONFIRM = "/v1/mail/org/magic/confirm";
export const CLAIM_CONFIRM = "/v1/mail/org/claim/confirm";

/** A captured mail that carries a link. */
export interface LinkMail {
  subject: string;
  text: string;
  /** Path of the link, with its query. */
  path: string;
  token: string;
}

/**
 * All captured mails to an address, the newest first, once nothing is queued any more.
 * @param within what their links have in them
 */
export async function linkMails(
  { url, relay }: TestRelay,
  email: string,
  within = "/confirm?token=",
): Promise<LinkMail[]> {
  await relay.crons.outgoing!();
  const { body } = await askMail(url, "GET", "/dev/mail");
  const mails: LinkMail[] = [];
  for (const { n, subject, envelope, links } of body.data) {
    if (envelope.to[0] !== email) continue;
    const link = links.find((one: string) => one.includes(within));
    if (link === undefined) continue;
    const text = (await askMail(url, "GET", `/dev/mail/${n}`)).body.text;
    const { pathname, search, searchParams } = new URL(link);
    mails.push({ subject, text, path: pathname + search, token: searchParams.get("token")! });
  }
  return mails;
}

/** The newest mail to an address; what the queue has put off for a moment is waited for. */
export async function newestLink(
  relay: TestRelay,
  email: string,
  within?: string,
): Promise<LinkMail> {
  for (let tries = 0; tries < 100; tries++) {
    const [newest] = await linkMails(relay, email, within);
    if (newest !== undefined) return newest;
    await delay(20);
  }
  throw new Error(`no mail went to ${email}`);
}

/** Asks for a sign-in link. */
export function askForLink(
  { url }: { url: string },
  email: unknown,
  more: Record<string, unknown> = {},
): Promise<MailAnswer> {
  return askMail(url, "POST", "/v1/mail/org/magic", { body: { email, ...more } });
}

/** Asks for a sign-in link and returns it as it arrived. */
export async function magicLink(
  relay: TestRelay,
  email: string,
  more: Record<string, unknown> = {},
): Promise<LinkMail> {
  const { status, body } = await askForLink(relay, email, more);
  if (status !== 202) throw new Error(`magic answered ${status} ${JSON.stringify(body)}`);
  return await newestLink(relay, email, `${MAGIC_CONFIRM}?token=`);
}

/** Claims the org of a key for an address and returns the link as it arrived. */
export async function claimLink(relay: TestRelay, key: string, email: string): Promise<LinkMail> {
  const answer = await askMail(relay.url, "POST", "/v1/mail/org/claim", { key, body: { email } });
  if (answer.status !== 202) throw new Error(`claim answered ${answer.status}`);
  return await newestLink(relay, email);
}

/** Follows a link as a program does. */
export function follow({ url }: { url: string }, { path }: LinkMail): Promise<MailAnswer> {
  return askMail(url, "GET", path, { headers: PROGRAM });
}
