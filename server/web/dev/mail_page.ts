/** Captured mail as pages: a list and a pane, of what left and of what came. */
import { html } from "hono/html";
import { type Html, shownText } from "../../base/pages/elements.ts";
import { visibleText } from "../../base/pages/visible_text.ts";
import { mailRows, placeLinks } from "../mailbox/mail_list.ts";
import { column, emptyRows, mailboxFrame, mailColumns } from "../mailbox/mailbox_frame.ts";
import { heightOf, readingPane } from "../mailbox/reading_pane.ts";
import { calledName, type Chip, type MailLine, type MailShown } from "../mailbox/view_model.ts";
import type { CapturedMail, CaptureResult } from "./captured_mails.ts";
import { remoteAddresses } from "./html_frame.ts";

/** What a form has done, by the name in the query of the page that it leads back to. */
const NOTICES = {
  handed_in: "The mail was handed in, and its inbox has it.",
  reply: "A reply was handed in, with this mail quoted.",
  bounce: "A report that this mail could not be delivered was handed in.",
  out_of_office: "An out-of-office answer was handed in.",
};
export type NoticeName = keyof typeof NOTICES;

/** Which mails a view shows. */
const VIEWS = {
  all: { label: "All mail", has: () => true },
  sent: { label: "Sent", has: (one) => one.result === "sent" || one.result === "unknown" },
  received: { label: "Received", has: (one) => one.result === "received" },
  failed: {
    label: "Failed",
    has: (one) => CHIPS[one.result]?.tone === "bad" || CHIPS[one.result]?.tone === "warn",
  },
} as const satisfies Record<string, { label: string; has: (one: CapturedMail) => boolean }>;
export type ViewName = keyof typeof VIEWS;
export const VIEW_NAMES = Object.keys(VIEWS) as ViewName[];

const CHIPS: Readonly<Record<CaptureResult, Chip | null>> = {
  sent: null,
  received: null,
  unknown: { word: "no reply", tone: "warn" },
  refused: { word: "refused", tone: "bad" },
  deferred: { word: "deferred", tone: "warn" },
  rejected: { word: "nobody took it", tone: "bad" },
};

const KEYS: readonly (readonly [string, string])[] = [
  ["c", "copy the code"],
  ["j", "the mail below"],
  ["k", "the mail above"],
  ["Enter", "open it"],
  ["r", "answer as its recipient"],
  ["b", "bounce it"],
  ["n", "hand in a mail"],
  ["/", "search"],
  ["?", "these keys"],
];

/** Where every page of local mode leads. @param chosen the page that it is on */
export const localFrame = (chosen: "/dev/mail" | "/dev/webhooks") => ({
  homeHref: "/",
  nav: [["/dev/mail", "Mail"], ["/dev/webhooks", "Webhooks"]].map(([href, label]) => ({
    href: href!,
    label: label!,
    isChosen: href === chosen,
    count: 0,
  })),
});

export interface MailPageFacts {
  /** Of all kinds, the newest first. */
  everything: readonly CapturedMail[];
  /** The one that was asked for; the newest of the list unless given. */
  asked?: CapturedMail;
  view: ViewName;
  q: string;
  /** Domain of the relay's inboxes. */
  domain: string;
  /** A NoticeName; anything else is ignored. */
  told: string | null;
  nowMs: number;
}

export function mailPage(facts: MailPageFacts): Promise<string> {
  const { everything, asked, view, q, domain, told, nowMs } = facts;
  const listed = everything.filter((one) => VIEWS[view].has(one) && matches(one, q));
  const chosen = asked ?? listed[0];
  if (chosen !== undefined) chosen.isSeen = true;
  const query = queryOf(view, q);
  const unseen = (name: ViewName) =>
    everything.filter((one) => !one.isSeen && VIEWS[name].has(one)).length;
  const places = VIEW_NAMES.map((name) => ({
    href: `/dev/mail${queryOf(name, "")}`,
    label: VIEWS[name].label,
    isChosen: name === view && q === "",
    count: unseen(name),
  }));
  const lines = listed.map((one) => lineOf(one, one === chosen, query));
  const body = mailColumns({
    places: placeLinks([{ label: "Captured here", places }], "Captured mail"),
    heading: q === "" ? VIEWS[view].label : "Found",
    tools: html`<a class="button" href="/dev/mail?write=1" data-key="n">Hand in a mail</a>`,
    // What a form did is told above the mail; where none is listed, here.
    rows: lines.length > 0
      ? mailRows(lines, nowMs)
      : html`${asked === undefined ? noticeOf(told) : ""}${emptyRows(nothing(q, domain))}`,
    pane: chosen === undefined
      ? null
      : paneOf(chosen, { nowMs, query, told, isLive: asked === undefined }),
    isListFirst: asked === undefined,
  });
  return mailboxFrame({
    ...localFrame("/dev/mail"),
    title: asked === undefined ? "Captured mail" : subjectOf(asked),
    unread: unseen("all"),
    search: { action: "/dev/mail", q, hidden: view === "all" ? {} : { view } },
    keys: KEYS,
    streamHref: "/dev/live",
  }, body);
}

/** The mail comes from outside: who writes it need not exist. */
export function handInPage(domain: string): Promise<string> {
  // deno-fmt-ignore
  const content = html`<p>It comes in as if from outside, with lists, rates and quotas. Recipients of mail <em>from</em> here at
<code>bounce.test</code> and <code>defer.test</code> are refused, for good and for a time; <code>unknown.test</code> takes
mail without a reply.</p>
<form method="post" action="/dev/mail">
<div class="field"><label for="from">From</label>
<input id="from" name="from" type="email" autocomplete="off" value="you@example.org">
<span class="hint">Empty for the null sender, which programs use.</span></div>
<div class="field"><label for="to">To</label>
<input id="to" name="to" type="email" autocomplete="off" required>
<span class="hint">An inbox at ${domain}.</span></div>
<div class="field"><label for="subject">Subject</label>
<input id="subject" name="subject" type="text" maxlength="998" autocomplete="off"></div>
<div class="field"><label for="text">Text</label><textarea id="text" name="text"></textarea></div>
<div class="actions"><button class="primary">Hand in</button> <a class="button" href="/dev/mail">Not now</a></div></form>`;
  return mailboxFrame(
    { ...localFrame("/dev/mail"), title: "Hand in a mail", search: null, keys: [] },
    column("Hand in a mail", content),
  );
}

function queryOf(view: ViewName, q: string): string {
  const query = new URLSearchParams({
    ...(view === "all" ? {} : { view }),
    ...(q === "" ? {} : { q }),
  }).toString();
  return query === "" ? "" : `?${query}`;
}

/** Whether every word stands somewhere in a mail. */
function matches({ to, content }: CapturedMail, q: string): boolean {
  if (q.trim() === "") return true;
  const { from, to: toHeader, subject, text } = content;
  const all = [from, toHeader, to, subject, text].join("\n").toLowerCase();
  return q.toLowerCase().trim().split(/\s+/).every((word) => all.includes(word));
}

function isOutgoing({ result }: CapturedMail): boolean {
  return result !== "received" && result !== "rejected";
}

function lineOf(mail: CapturedMail, isChosen: boolean, query: string): MailLine {
  const { key, to, atMs, result, isSeen, content } = mail;
  const { subject, codes, attachments, parts } = content;
  const chip = CHIPS[result];
  return {
    href: `/dev/mail/${key}${query}`,
    who: isOutgoing(mail) ? `To ${to}` : parts.from === null ? "Nobody" : calledName(parts.from),
    subject,
    preview: parts.preview,
    atMs,
    isUnread: !isSeen,
    isChosen,
    count: 1,
    code: codes[0] ?? null,
    hasAttachments: attachments.length > 0,
    chips: chip === null ? [] : [chip],
  };
}

function paneOf(
  mail: CapturedMail,
  { nowMs, query, told, isLive }: {
    nowMs: number;
    query: string;
    told: string | null;
    isLive: boolean;
  },
): Html {
  return readingPane({
    subject: subjectOf(mail),
    messages: [shownOf(mail)],
    nowMs,
    backHref: `/dev/mail${query}`,
    before: noticeOf(told),
    after: isOutgoing(mail) ? answerForm(mail) : "",
    isLive,
  });
}

function shownOf(mail: CapturedMail): MailShown {
  const { key, from, to, atMs, result, reason, attempts, content } = mail;
  const { text, isCut, attachments, links, codes, parts } = content;
  const path = `/dev/mail/${key}`;
  const told = [
    attempts > 1 ? `Tried ${attempts} times.` : "",
    reason === "" ? "" : `${isOutgoing(mail) ? "The next hop said" : "The relay said"}: ${reason}.`,
  ].join(" ").trim();
  const facts = `Envelope: from ${from === "" ? "the null sender" : from} to ${to}.`;
  return {
    id: `mail-${key}`,
    from: parts.from,
    to: parts.to,
    cc: parts.cc,
    bcc: [],
    atMs,
    verdict: {
      ...CHIPS[result] ?? { word: isOutgoing(mail) ? "sent" : "received", tone: "plain" },
      details: `${told} ${facts}`.trim(),
    },
    chips: [],
    warnings: [
      ...parts.warnings,
      ...isCut ? ["The mail is long: this is its beginning. The source has all of it."] : [],
    ],
    codes,
    text,
    wholeHref: null,
    html: parts.html === null
      ? null
      : { src: `${path}/html`, heightPx: heightOf(text, parts.html) },
    links,
    files: attachments.map(({ filename, content_type }, i) => ({
      name: filename === "" ? null : filename,
      type: content_type,
      sizeBytes: parts.fileSizes[i] ?? 0,
      href: `${path}/file?n=${i}`,
    })),
    recipients: [],
    headers: null,
    headersHref: null,
    rawHref: `${path}/raw`,
    isOpen: true,
    actions: remoteList(parts.html),
  };
}

/** What the HTML would have loaded from elsewhere. */
function remoteList(markup: string | null): Html | undefined {
  const remote = remoteAddresses(markup ?? "");
  if (remote.length === 0) return undefined;
  // deno-fmt-ignore
  return html`<details><summary class="soft">Nothing was loaded from elsewhere: ${remote.length} ${
    remote.length === 1 ? "address" : "addresses"
  }</summary><ul>${remote.map((url) => html`<li class="soft">${shownText(url)}</li>`)}</ul></details>`;
}

/** What the other side would send; words for each are in compose_answer.ts. */
function answerForm({ key, to }: CapturedMail): Html {
  const action = `/dev/mail/${key}/answer`;
  // One form: what a button says goes with the text, which a bounce has none of.
  // deno-fmt-ignore
  return html`<form class="answer" method="post" action="${action}"><h2><label for="text">Answer as <bdi>${visibleText(to)}</bdi></label></h2>
<textarea id="text" name="text" class="short" placeholder="Empty: words of local mode’s own" data-key="r"></textarea>
<div class="actions"><button class="primary" name="as" value="reply">Reply <kbd>r</kbd></button><button name="as" value="bounce" data-key="b">Bounce it <kbd>b</kbd></button
><button name="as" value="out_of_office">Out of office</button></div></form>`;
}

function nothing(q: string, domain: string): Html {
  if (q !== "") return html`No captured mail has all of these words.`;
  // deno-fmt-ignore
  return html`What this relay sends will be a line here, and goes nowhere; what comes to its inboxes at
<code>${domain}</code> will be one too.<br><a href="/dev/mail?write=1">Hand in a mail</a>`;
}

function noticeOf(told: string | null): Html | string {
  const isKnown = told !== null && Object.hasOwn(NOTICES, told);
  return isKnown ? html`<p class="note ok" role="status">${NOTICES[told as NoticeName]}</p>` : "";
}

/** As in the mail: hidden characters and all. */
function subjectOf({ content: { subject } }: CapturedMail): string {
  return subject === "" ? "(no subject)" : subject;
}
