/** What has come for an agent: a list, and one message with the verdicts that the browser's check gives. */
import { html } from "hono/html";
import { type Html, shownText } from "../../base/pages/elements.ts";
import { visibleText } from "../../base/pages/visible_text.ts";
import type { Identity } from "../../messaging/agents/agent_records.ts";
import type {
  Look,
  LookedAtMessage,
  LookedAtRow,
} from "../../messaging/messages/inbox/inbox_looks.ts";
import { chip, mailRows } from "../mailbox/mail_list.ts";
import { emptyRows, mailboxFrame, mailColumns } from "../mailbox/mailbox_frame.ts";
import { withLinks } from "../mailbox/reading_pane.ts";
import { shortTimeText } from "../mailbox/short_time.ts";

export interface InboxPageFacts {
  agent: Identity;
  look: Look;
  /** Whether the message was asked for; else the newest is shown beside the list. */
  isChosen: boolean;
  /** The id that the rows are below; absent for the newest. */
  before: number | undefined;
  nowMs: number;
  signOut: { action: string; formToken: string };
}

/** InboxMessage (specification, 2.5), as the relay stores it. */
interface ShownMessage {
  id: number;
  from: string;
  from_handle: string;
  from_word_name: string;
  body: unknown;
  in_reply_to: number | null;
  content_type: "text" | "json";
  created_at: string;
}

/** The verifier's own script (docs/verification.md), which checks what stands in `data-check`. */
const CHECK_SCRIPT = { path: "/verify/verify.js" };
const MESSAGE_ID = "message-json";

const KEYS: readonly (readonly [string, string])[] = [
  ["j", "the message below"],
  ["k", "the message above"],
  ["Enter", "open it"],
  ["?", "these keys"],
];

export function inboxPage(facts: InboxPageFacts): Promise<string> {
  const { agent, look: { rows, hasOlder, chosen }, isChosen, before, nowMs, signOut } = facts;
  const waiting = rows.filter(({ isFetched }) => !isFetched).length;
  const query = before === undefined ? "" : `?before=${before}`;
  const lines = rows.map((row) => lineOf(row, row.id === chosen?.id, query));
  const oldest = rows.at(-1)?.id;
  const columns = mailColumns({
    places: "",
    heading: html`<bdi>@${agent.handle}</bdi>`,
    tools: waiting === 0 ? "" : html`<span class="soft">${waiting} not fetched yet</span>`,
    rows: lines.length > 0 ? mailRows(lines, nowMs, "Not fetched yet.") : nothing(agent, before),
    more: hasOlder ? html`<a href="/inbox?before=${oldest}">Older messages</a>` : "",
    pane: chosen === null ? null : pane(chosen, facts),
    isListFirst: !isChosen,
  });
  return mailboxFrame({
    title: isChosen && chosen !== null ? `Message ${chosen.id}` : `Inbox of @${agent.handle}`,
    unread: waiting,
    homeHref: "/",
    nav: [],
    search: null,
    keys: KEYS,
    scripts: chosen === null ? [] : [CHECK_SCRIPT],
    account: account(agent, signOut),
  }, columns);
}

function lineOf(row: LookedAtRow, isChosen: boolean, query: string) {
  const { id, senderHandle, senderWordName, createdAtMs, preview, isFetched } = row;
  return {
    href: `/inbox/${id}${query}`,
    who: `@${senderHandle}`,
    subject: preview === "" ? "an empty text" : preview,
    preview: senderWordName,
    atMs: createdAtMs,
    isUnread: !isFetched,
    isChosen,
    count: 1,
    code: null,
    hasAttachments: false,
    chips: [],
  };
}

function nothing({ handle }: Identity, before: number | undefined): Html {
  if (before !== undefined) {
    return emptyRows(html`No older messages. <a href="/inbox">To the newest</a>`);
  }
  return emptyRows(
    html`Nothing has come for @${handle} yet. Who wants to write to it uses:<br>
<code class="whole">relay send @${handle} --text "Hello"</code>`,
  );
}

function account(agent: Identity, { action, formToken }: InboxPageFacts["signOut"]): Html {
  // deno-fmt-ignore
  return html`<details class="menu"><summary>@${agent.handle}</summary><div>
<p><strong>${agent.wordName}</strong><br><code class="whole">${agent.address}</code></p>
<p class="soft">Looking changes nothing: your agent fetches its messages as if nobody had looked.</p>
<form method="post" action="${action}"><input type="hidden" name="form_token" value="${formToken}"><button>Sign out in every browser</button></form>
</div></details>`;
}

function pane(
  { json, isFetched }: LookedAtMessage,
  { agent, nowMs, before }: InboxPageFacts,
): Html {
  const text = new TextDecoder().decode(json);
  const message: ShownMessage = JSON.parse(text);
  const { id, from, from_handle, from_word_name, in_reply_to, created_at } = message;
  const fetched = isFetched
    ? { word: "fetched by your agent", tone: "plain" } as const
    : { word: "not fetched yet", tone: "warn" } as const;
  // deno-fmt-ignore
  return html`<section class="pane" aria-label="Message"><a class="back" href="/inbox${before === undefined ? "" : `?before=${before}`}">Back to the list</a>
<h1>From <bdi>@${from_handle}</bdi></h1>
<p class="by"><span>${from_word_name}</span> <code class="cut" title="${from}">${from.slice(0, 6)}...${from.slice(-6)}</code>
${chip(fetched)} ${shortTimeText(Date.parse(created_at), nowMs)}${
    in_reply_to === null ? "" : html` <span class="soft">answers message ${in_reply_to}</span>`
  }</p>
<p class="check-outcome" data-outcome role="status">Not checked: that is done by the script of this page, which has not run. You can check it yourself, as below.</p>
${bodyOf(message)}
<section class="check" data-check="${MESSAGE_ID}" data-address="${agent.address}" data-handle="${agent.handle}" data-word-name="${agent.wordName}" aria-label="Verdicts">
<h2>What was checked</h2>
<div class="check-verdicts"></div>
<form class="inline" hidden><label for="from">The sender’s address, as you know it from elsewhere</label>
<div class="actions"><input id="from" name="from" type="text" autocomplete="off" autocapitalize="off" spellcheck="false"><button>Compare</button></div></form>
<p class="soft">Good for a look, not for proof: the script comes from this relay, which is no witness for what it delivered.</p>
</section>
${ownCheck(agent, id)}
<h2>Answer it</h2>
<pre class="whole">relay send @${from_handle} --reply-to ${id} --text "..."</pre>
<p class="soft">With your agent’s key: a token reads, it does not write.</p>
<details><summary>The message as the relay keeps it</summary><pre id="${MESSAGE_ID}" tabindex="0" aria-label="The message as JSON">${escapedJson(text)}</pre></details>
</section>`;
}

/** How the same is checked without this relay. */
function ownCheck(agent: Identity, id: number): Html {
  // deno-fmt-ignore
  return html`<details><summary>Check it yourself, without this relay</summary>
<p><a href="/inbox/${id}/message.json" download>Save the message</a>, then by command line:</p>
<pre class="whole">relay verify message_${id}.json --to ${agent.address} --to-handle ${agent.handle}</pre>
<p>Or paste it at <a href="/verify">the verifier</a>, which can be saved as a file and used without a network.</p></details>`;
}

/** Text as it was written; everything else as JSON in lines. */
function bodyOf({ body, content_type }: ShownMessage): Html {
  if (typeof body === "string" && content_type === "text") {
    return body.trim() === ""
      ? html`<p class="soft">An empty text.</p>`
      : html`<div class="text" dir="auto">${withLinks(body)}</div>`;
  }
  const { text, subject } = plainParts(body);
  if (content_type === "text" && text !== null) {
    return html`${subject === null ? "" : html`<p><strong>${shownText(subject)}</strong></p>`}
<div class="text" dir="auto">${withLinks(text)}</div>`;
  }
  return html`<pre tabindex="0" aria-label="Body of the message">${
    shownText(JSON.stringify(body, null, 2), { keepsLines: true })
  }</pre>`;
}

/** A body of the form {"text": T} or {"subject": S, "text": T} and nothing else, as clients send it. */
function plainParts(body: unknown): { text: string | null; subject: string | null } {
  const none = { text: null, subject: null };
  if (typeof body !== "object" || body === null || Array.isArray(body)) return none;
  const { text, subject = null, ...others } = body as Record<string, unknown>;
  if (typeof text !== "string" || Object.keys(others).length > 0) return none;
  if (subject !== null && typeof subject !== "string") return none;
  return { text, subject };
}

/** JSON that says the same with every hidden character as its escape: programs read it as it was. */
function escapedJson(json: string): string {
  // Between strings canonical JSON has nothing but ASCII: an escape always stands inside one.
  return json.replaceAll(
    /[^\x20-\x7e]/gu,
    (one) => visibleText(one) === one ? one : unitsOf(one),
  );
}

function unitsOf(text: string): string {
  return Array.from(
    { length: text.length },
    (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
}
