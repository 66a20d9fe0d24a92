/** An org that may send, its inbox, and what a test asks of them. */
import { accepted, MailKeyHolder, newOrg } from "./mail_caller.ts";
import { claimLink, follow } from "./mail_links.ts";
import { askMail, type MailAnswer } from "./mail_relay.ts";
import type { TestRelay } from "./relay.ts";

/** A verified org of a relay in local mode. @param email of its own unless given: mails to one are limited */
export async function newSendingOrg(relay: TestRelay, email?: string): Promise<MailKeyHolder> {
  const owner = await newOrg(relay);
  const own = email ?? `${owner.orgId.toLowerCase()}@example.org`;
  accepted(await follow(relay, await claimLink(relay, owner.key, own)), 200);
  return owner;
}

export function send(
  by: MailKeyHolder,
  inbox: { id: string },
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<MailAnswer> {
  const path = `/v1/mail/inboxes/${inbox.id}/messages/send`;
  return by.ask("POST", path, {
    body: { to: "ann@example.org", text: "Hello.", ...body },
    headers,
  });
}

// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
export async function readMessage(by: MailKeyHolder, id: string): Promise<any> {
  return accepted(await by.ask("GET", `/v1/mail/messages/${id}`), 200);
}

// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
export async function listMessages(by: MailKeyHolder, inbox: { id: string }): Promise<any[]> {
  return accepted(await by.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`), 200).data;
}

/** All messages of an inbox, page by page. */
// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
export async function listAllMessages(by: MailKeyHolder, inbox: { id: string }): Promise<any[]> {
  const all = [];
  for (let cursor = "";;) {
    const path = `/v1/mail/inboxes/${inbox.id}/messages?limit=100${cursor}`;
    const { data, next_cursor } = accepted(await by.ask("GET", path), 200);
    all.push(...data);
    if (next_cursor === null) return all;
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
}

/** Lets the outgoing queue attempt what is due. */
export async function deliver({ relay }: TestRelay): Promise<void> {
  await relay.crons["outgoing"]!();
}

/** A mail as the next hop of local mode took it. */
export interface TakenMail {
  n: number;
  envelope: { from: string; to: string[] };
  subject: string;
}

/** What the next hop of local mode took for an address, the newest first. */
export async function takenFor({ url }: TestRelay, address: string): Promise<TakenMail[]> {
  const { body } = await askMail(url, "GET", "/dev/mail");
  return body.data.filter(({ envelope }: TakenMail) => envelope.to.includes(address));
}
