/** The frame of the pages for mail: one bar, then places, list and pane, or a column. */
import { html, raw } from "hono/html";
import { answerPage } from "../../base/pages/answer_page.ts";
import { ICON, MAILBOX_SCRIPT, MAILBOX_STYLESHEET } from "../../base/pages/asset_files.ts";
import { countText, type Html } from "../../base/pages/elements.ts";
import { visibleText } from "../../base/pages/visible_text.ts";

export interface NavLink {
  href: string;
  label: string;
  isChosen: boolean;
  /** Not shown at 0. */
  count: number;
}

export interface MailboxFrameOptions {
  /** Plain text, also of others. */
  title: string;
  /** Unread mails, told before the title; 0 says nothing. */
  unread?: number;
  homeHref: string;
  nav: readonly NavLink[];
  /** Null where there is nothing to be sought. */
  search: { action: string; q: string; hidden?: Readonly<Record<string, string>> } | null;
  /** At the right of the bar, such as a menu of the account. */
  account?: Html | string;
  /** What the keys of the page do, as `?` shows them; of mail unless given, none where empty. */
  keys?: typeof KEYS;
  /** What the page loads beside its own script. */
  scripts?: readonly { path: string }[];
  /** Server-sent events of which each `message` says that something has come. */
  streamHref?: string;
}

/** Everything comes from the relay itself; the frame of an HTML mail answers under a policy of its own. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The icon in the colours of the page, which an image could not take. */
const MARK = raw(
  `<svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" stroke="none"/><path d="M7 11h11m-4-4 4 4-4 4M25 21H14m4-4-4 4 4 4" fill="none" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`,
);

/** The keys, as `?` shows them. */
const KEYS: readonly (readonly [key: string, what: string])[] = [
  ["j", "the mail below"],
  ["k", "the mail above"],
  ["Enter", "open it"],
  ["e", "mark it read or unread"],
  ["r", "reply"],
  ["c", "copy the code"],
  ["/", "search"],
  ["?", "these keys"],
];

/** A page as text. @param body what mailColumns() or a column gives */
export async function mailboxFrame(options: MailboxFrameOptions, body: Html): Promise<string> {
  const { title, unread = 0, homeHref, nav, search, account = "", streamHref } = options;
  const { keys = KEYS, scripts = [] } = options;
  const tab = `${unread > 0 ? `(${countText(unread)}) ` : ""}${
    visibleText(title.slice(0, 200))
  } - Relay`;
  // deno-fmt-ignore
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${tab}</title>
<link rel="icon" type="image/svg+xml" href="${ICON.path}">
<link rel="stylesheet" href="${MAILBOX_STYLESHEET.path}">
${[MAILBOX_SCRIPT, ...scripts].map(({ path }) => html`<script type="module" src="${path}"></script>\n`)}</head>
<body${streamHref === undefined ? "" : html` data-stream="${streamHref}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header><a class="brand" href="${homeHref}">${MARK}Relay</a>
${nav.length === 0 ? "" : html`<nav aria-label="Pages" id="nav" data-live>${nav.map(navLink)}</nav>`}
${search === null ? "" : searchForm(search)}${account}</header>
${body}
${keys.length === 0 ? "" : keyList(keys)}</body>
</html>
`;
  return String(await page);
}

function keyList(keys: typeof KEYS): Html {
  // deno-fmt-ignore
  return html`<dialog data-key="?" aria-label="Keys"><dl class="pairs">${
    keys.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>\n`)
  }</dl><form method="dialog"><button>Close</button></form></dialog>\n`;
}

function navLink({ href, label, isChosen, count }: NavLink): Html {
  // deno-fmt-ignore
  return html`<a href="${href}"${isChosen ? html` aria-current="page"` : ""}>${label}${
    count > 0 ? html` <span class="chip warn">${countText(count)}</span>` : ""
  }</a>\n`;
}

function searchForm({ action, q, hidden = {} }: NonNullable<MailboxFrameOptions["search"]>): Html {
  // deno-fmt-ignore
  return html`<form class="find" role="search" action="${action}">${
    Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  }<input type="search" name="q" value="${q}" maxlength="500" placeholder="Search mail" aria-label="Search mail" data-key="/"><kbd aria-hidden="true">/</kbd></form>`;
}

export interface MailColumns {
  /** As placeLinks() makes them; "" for none. */
  places: Html | string;
  /** What the list is of. */
  heading: Html | string;
  /** Beside the heading, such as a button to write. */
  tools?: Html | string;
  /** As mailRows() makes them, or what is said where there is nothing. */
  rows: Html;
  /** Below them, such as a link to older ones. */
  more?: Html | string;
  /** As readingPane() makes it; null where the list has all the room. */
  pane: Html | null;
  /** Whether a narrow window shows the list: nobody has asked for what the pane shows. */
  isListFirst?: boolean;
}

/** Places, list and pane: beside each other where there is room, else the list or the pane. */
export function mailColumns(
  { places, heading, tools = "", rows, more = "", pane, isListFirst = false }: MailColumns,
): Html {
  // Each page has one h1: of what is read where something is, else of the list.
  const head = pane === null || isListFirst ? html`<h1>${heading}</h1>` : html`<h2>${heading}</h2>`;
  // deno-fmt-ignore
  return html`<main id="main" class="mail${pane === null ? "" : " reading"}${places === "" ? " no-places" : ""}${
    isListFirst ? " list-first" : ""
  }">${places}
<section class="list" aria-label="Mail"><div class="list-head">${head}${tools}</div>
${rows}${more === "" ? "" : html`<div class="more">${more}</div>`}</section>
${pane ?? ""}</main>`;
}

/** What is said where a list has nothing. @param content what would be here, and what brings it */
export function emptyRows(content: Html | string): Html {
  return html`
    <div id="rows" data-live>
      <p class="empty">${content}</p>
    </div>
  `;
}

/** A page of one column, such as a form. */
export function column(heading: Html | string, content: Html, { isNarrow = false } = {}): Html {
  // deno-fmt-ignore
  return html`<main id="main" class="column${isNarrow ? " narrow" : ""}"><h1>${heading}</h1>\n${content}</main>`;
}

/** @param page as mailboxFrame() makes it */
export function answerMailbox(
  page: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return answerPage(page, {
    status,
    // Forms of these pages say where they come from: under "no-referrer" they could not.
    referrerPolicy: "same-origin",
    headers: {
      "Content-Security-Policy": POLICY,
      ...headers,
    },
  });
}
