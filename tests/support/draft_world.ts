/** An org whose inbox only drafts: its owner, an agent with a key of the inbox, and the links that people get. */
import { follow, type LinkMail, linkMails } from "./mail_links.ts";
import { claimLink } from "./mail_links.ts";
import { accepted, MailKeyHolder, newOrg } from "./mail_caller.ts";
import { askMail, type MailAnswer } from "./mail_relay.ts";
import { delay } from "./pace.ts";
import type { TestRelay } from "./relay.ts";
import { parseMail, type TestSmtpServer } from "./smtp_server.ts";

export const OWNER_EMAIL = "owner@example.org";

export interface DraftWorld {
  /** An org-scoped key. */
  owner: MailKeyHolder;
  /** A key of the inbox alone. */
  agent: MailKeyHolder;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  inbox: any;
}

/** A verified org with a draft_only inbox, unless `inbox` says otherwise. */
export async function makeDraftWorld(
  relay: TestRelay,
  { email = OWNER_EMAIL, inbox: asked = {} }: { email?: string; inbox?: object } = {},
): Promise<DraftWorld> {
  const owner = await newOrg(relay);
  accepted(await follow(relay, await claimLink(relay, owner.key, email)), 200);
  const inbox = await owner.inbox({ send_policy: "draft_only", ...asked });
  const { api_key } = await owner.newKey({ name: "agent", scope: "inbox", inbox_id: inbox.id });
  return { owner, agent: owner.with(api_key), inbox };
}

/** Makes a draft with a key. */
export async function newDraft(
  holder: MailKeyHolder,
  inboxId: string,
  body: unknown,
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
): Promise<any> {
  return accepted(await holder.ask("POST", `/v1/mail/inboxes/${inboxId}/drafts`, { body }), 201);
}

export const LETTER = { to: "ann@example.org", subject: "Hello", text: "How are you?" };

/** Mails that ask for an approval, the newest first. */
export async function approvalMails(relay: TestRelay, email = OWNER_EMAIL): Promise<LinkMail[]> {
  return await linkMails(relay, email, "/mail/drafts/");
}

export async function newestApproval(relay: TestRelay, email = OWNER_EMAIL): Promise<LinkMail> {
  const [newest] = await approvalMails(relay, email);
  if (newest === undefined) throw new Error(`nobody asked ${email} to approve`);
  return newest;
}

/** The link with such a path in the mails that have arrived, waited for. */
export async function linkIn(
  smtp: TestSmtpServer,
  within: string,
): Promise<{ path: string; token: string }> {
  for (let at = 0;; at++) {
    while (smtp.received.length <= at) await delay(5);
    const { text = "" } = await parseMail(smtp.received[at]!);
    const link = [...text.matchAll(/http\S+\?token=[^\s#]+/g)].map(([url]) => new URL(url))
      .find(({ pathname }) => pathname.includes(within));
    if (link === undefined) continue;
    return { path: link.pathname + link.search, token: link.searchParams.get("token")! };
  }
}

/** Opens the page of a link. */
export function openPage(
  { url }: { url: string },
  { path }: { path: string },
): Promise<MailAnswer> {
  return askMail(url, "GET", path, { headers: { Accept: "text/html" } });
}

/** Presses a button of a draft's page. */
export function decide(
  { url }: { url: string },
  { path, token }: { path: string; token: string },
  action: string,
  headers: Record<string, string> = {},
): Promise<MailAnswer> {
  return askMail(url, "POST", path.split("?")[0]!, {
    headers: {
      Accept: "text/html",
      "Content-Type": "application/x-www-form-urlencoded",
      ...headers,
    },
    body: new URLSearchParams({ token, action }).toString(),
  });
}

/** What went out of an inbox. */
// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
export async function sentMessages(holder: MailKeyHolder, inboxId: string): Promise<any[]> {
  const path = `/v1/mail/inboxes/${inboxId}/messages?direction=outbound&order=asc`;
  return accepted(await holder.ask("GET", path), 200).data;
}
