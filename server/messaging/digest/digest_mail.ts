/**
 * The digest as a mail: plain text and HTML, with one-click unsubscription (RFC 8058). It tells the
 * count and who wrote, never subjects or bodies (specification, section 6).
 */
import { html } from "hono/html";
import { composeTexts, type NoticeHeaders } from "../../base/notices/notice_mail.ts";
import type { Html } from "../../base/pages/elements.ts";

/** How many senders are named; of the others the mail says only their number. */
export const NAMED_SENDERS = 20;

export interface Digest extends Omit<NoticeHeaders, "subject"> {
  /** {base_url}, without a trailing slash. */
  baseUrl: string;
  /** Handle of the agent whose messages wait. */
  handle: string;
  /** Undelivered messages. */
  count: number;
  /** Whether there may be more messages and senders. */
  isPartial: boolean;
  /** At most NAMED_SENDERS. */
  senders: readonly { handle: string; wordName: string }[];
  /** How many more senders there are. */
  furtherSenders: number;
  unsubscribeToken: string;
}

const urlOf = (baseUrl: string, path: string, token: string): string =>
  `${baseUrl}${path}?token=${encodeURIComponent(token)}`;

/** The message (RFC 5322) as it is sent. */
export async function composeDigest(digest: Digest): Promise<Uint8Array> {
  const { baseUrl, unsubscribeToken } = digest;
  const url = urlOf(baseUrl, "/v1/notifications/unsubscribe", unsubscribeToken);
  const choicesUrl = urlOf(baseUrl, "/v1/notifications", unsubscribeToken);
  return await composeTexts({
    ...digest,
    subject: unreadCount(digest),
    text: plainText(digest, url, choicesUrl),
    html: { title: headline(digest), body: htmlText(digest, url, choicesUrl) },
    headers: {
      "List-Unsubscribe": { prepared: true, value: `<${url}>` },
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    },
  });
}

/** The subject contains no name that an agent chose, since anybody may name any address. */
function unreadCount({ count, isPartial }: Digest): string {
  return `${isPartial ? "at least " : ""}${count} unread ${count === 1 ? "message" : "messages"}`;
}

function headline(digest: Digest): string {
  return `${unreadCount(digest)} for @${digest.handle}`;
}

function furtherSenders({ furtherSenders, isPartial }: Digest): string[] {
  return furtherSenders === 0 ? [] : [`and ${isPartial ? "at least " : ""}${furtherSenders} more`];
}

function plainText(digest: Digest, unsubscribe: string, choices: string): string {
  const lines = digest.senders.map(({ handle, wordName }) => `  @${handle} (${wordName})`);
  for (const line of furtherSenders(digest)) lines.push(`  ${line}`);
  return [
    `${headline(digest)}, from:`,
    "",
    ...lines,
    "",
    `Inbox: ${digest.baseUrl}/inbox`,
    "",
    "To get none at all to this address, whatever agent names it:",
    choices,
    "",
    "To get no more of these for this agent, open this link once:",
    unsubscribe,
    "",
  ].join("\n");
}

function htmlText(digest: Digest, unsubscribe: string, choices: string): Html {
  const items = digest.senders.map(({ handle, wordName }) =>
    html`<li><b>@${handle}</b> (${wordName})</li>\n`
  );
  for (const line of furtherSenders(digest)) items.push(html`<li>${line}</li>\n`);
  // deno-fmt-ignore
  return html`<p>${headline(digest)}, from:</p>
<ul>
${items}</ul>
<p><a href="${digest.baseUrl}/inbox">Inbox</a></p>
<p><a href="${choices}">None at all to this address</a></p>
<p><a href="${unsubscribe}">No more of these for this agent</a></p>
`;
}
