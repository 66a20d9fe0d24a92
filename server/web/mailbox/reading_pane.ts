/** The pane in which a thread, a message or a captured mail is read. */
import { html } from "hono/html";
import { type Html, shownText } from "../../base/pages/elements.ts";
import { visibleText } from "../../base/pages/visible_text.ts";
import { chip, spacedCode } from "./mail_list.ts";
import { shortTimeText } from "./short_time.ts";
import {
  calledName,
  type MailShown,
  type Person,
  type ShownFile,
  type ShownRecipient,
} from "./view_model.ts";

export interface PaneOptions {
  subject: string | null;
  /** Oldest first. */
  messages: readonly MailShown[];
  nowMs: number;
  /** Where a narrow window goes back to. */
  backHref: string;
  /** Above the messages. */
  before?: Html | string;
  /** Below them, such as the buttons of the whole thread. */
  after?: Html | string;
  /** Whether it follows what comes, as where it shows the newest. */
  isLive?: boolean;
}

/** So many of a long list of people or addresses are shown at once; the others open by a click. */
const SHOWN_AT_ONCE = 3;

export function readingPane(
  { subject, messages, nowMs, backHref, before = "", after = "", isLive = false }: PaneOptions,
): Html {
  const title = subject === null || subject.trim() === ""
    ? html`<span class="soft">no subject</span>`
    : shownText(subject.slice(0, 1000));
  // The first code alone has the key: which one it copies must not depend on where one looks.
  const coded = messages.findLast(({ codes }) => codes.length > 0)?.id;
  // deno-fmt-ignore
  return html`<section class="pane" aria-label="Message"${isLive ? html` id="pane" data-live` : ""}><a class="back" href="${backHref}">Back to the list</a>
<h1>${title}</h1>
${before}${messages.map((one, i) => message(one, nowMs, i === 0, one.id === coded))}${after}</section>`;
}

function message(one: MailShown, nowMs: number, isFirst: boolean, hasKey: boolean): Html {
  const { id, from, verdict, chips, atMs, isOpen } = one;
  // deno-fmt-ignore
  const by = html`<span class="by"><span class="name">${
    from === null ? "No sender" : shownText(from.name ?? from.address)
  }</span>${from?.name == null ? "" : html`<span class="address">${shownText(from.address)}</span>`}${
    verdict === null ? "" : chip(verdict)
  }${chips.map(chip)} ${shortTimeText(atMs, nowMs)}</span>`;
  // deno-fmt-ignore
  return isOpen
    ? html`<article class="message${isFirst ? " first" : ""}" id="${id}">${by}${inside(one, nowMs, hasKey)}</article>\n`
    : html`<details class="message${isFirst ? " first" : ""}" id="${id}"><summary>${by}</summary>${inside(one, nowMs, hasKey)}</details>\n`;
}

function inside(one: MailShown, nowMs: number, hasKey: boolean): Html {
  const { to, cc, bcc, warnings, codes, text, wholeHref, verdict, html: frame } = one;
  // deno-fmt-ignore
  return html`<p class="soft">to ${people(to)}${cc.length === 0 ? "" : html`, cc ${people(cc)}`}${
    bcc.length === 0 ? "" : html`, bcc ${people(bcc)}`
  }</p>
${codes.map((code, i) => codeCard(code, hasKey && i === 0))}${warnings.map((words) =>
    html`<p class="note warn">${visibleText(words)}</p>\n`
  )}${
    htmlPart(one)
  }${
    text === null || text.trim() === ""
      ? frame === null ? html`<p class="soft">This mail has no text.</p>` : ""
      : frame === null ? shownWords(text) : html`<details><summary class="soft">As text</summary>${shownWords(text)}</details>`
  }${wholeHref === null ? "" : html`<p><a href="${wholeHref}">Read the whole text</a></p>`}${files(one.files)}${recipients(one.recipients, nowMs)}${
    verdict === null ? "" : html`<p class="facts">${visibleText(verdict.details)}</p>`
  }${one.links.length === 0 ? "" : html`<details><summary class="soft">${one.links.length} ${one.links.length === 1 ? "link" : "links"}</summary><ul>${
    one.links.map((url) => html`<li>${link(url)}</li>`)
  }</ul></details>`}${headers(one)}${one.actions ?? ""}`;
}

function shownWords(text: string): Html {
  return html`<div class="text" dir="auto">${withLinks(text)}</div>`;
}

function people(list: readonly Person[]): Html {
  const shown = (one: Person) =>
    // deno-fmt-ignore
    html`<span title="${visibleText(one.address)}">${shownText(calledName(one))}</span>`;
  const joined = (part: readonly Person[]) =>
    part.map((one, i) => html`${i === 0 ? "" : ", "}${shown(one)}`);
  if (list.length === 0) return html`nobody`;
  if (list.length <= SHOWN_AT_ONCE + 1) return html`${joined(list)}`;
  const rest = list.slice(SHOWN_AT_ONCE);
  // deno-fmt-ignore
  return html`${joined(list.slice(0, SHOWN_AT_ONCE))} and <span title="${
    visibleText(rest.slice(0, 50).map(({ address }) => address).join(", "))
  }">${rest.length.toLocaleString("en")} others</span>`;
}

function codeCard(code: string, hasKey: boolean): Html {
  const shown = spacedCode(code);
  const key = hasKey
    ? html`
      data-key="c"
    `
    : "";
  // deno-fmt-ignore
  return html`<div class="code-card"><code class="whole">${visibleText(shown)}</code><button type="button" class="primary" data-copy="${visibleText(code)}"${key} hidden>Copy ${
    hasKey ? html`<kbd>c</kbd>` : ""
  }</button><span class="soft">the code in this mail</span></div>`;
}

function htmlPart({ html: frame }: MailShown): Html | string {
  if (frame === null) return "";
  const { src, heightPx } = frame;
  // deno-fmt-ignore
  return html`<iframe class="mail-html" sandbox="" title="The mail as its sender laid it out" referrerpolicy="no-referrer" loading="lazy" height="${heightPx}" src="${src}"></iframe>`;
}

/** How high an HTML will be, about: by the lines of its words, and more where it is laid out in tables or has pictures. */
export function heightOf(words: string, html: string): number {
  const lines = words.split("\n", 100).reduce((sum, line) => sum + 1 + line.length / 80, 0);
  const isLaidOut = /<table|<img/i.test(html.slice(0, 100_000));
  return Math.round(Math.min(900, (isLaidOut ? 200 : 90) + lines * 24));
}

function files(list: readonly ShownFile[]): Html | string {
  if (list.length === 0) return "";
  // deno-fmt-ignore
  return html`<h2>${list.length === 1 ? "Attachment" : "Attachments"}</h2><ul class="files">${list.map(({ name, type, sizeBytes, href }) =>
    html`<li><a href="${href}" download>${shownText(name ?? "without a name")}</a> <span class="soft">${visibleText(type)}, ${sizeText(sizeBytes)}</span></li>`
  )}</ul>`;
}

/** Such as "1.2 MB": powers of 1,000. */
export function sizeText(sizeBytes: number): string {
  if (sizeBytes < 1000) return sizeBytes === 1 ? "1 byte" : `${sizeBytes} bytes`;
  const isLarge = sizeBytes >= 1_000_000;
  const value = sizeBytes / (isLarge ? 1_000_000 : 1000);
  return `${value.toFixed(value < 10 ? 1 : 0)} ${isLarge ? "MB" : "kB"}`;
}

function recipients(list: readonly ShownRecipient[], nowMs: number): Html | string {
  if (list.length === 0) return "";
  // deno-fmt-ignore
  return html`<h2>Delivery</h2><ul class="steps">${list.map(({ address, steps, detail }) =>
    html`<li>${shownText(address)} ${steps.length === 0 ? "" : chip(steps.at(-1)!)}<ol>${steps.map(({ word, atMs }) =>
      html`<li>${word}${atMs === null ? "" : html` ${shortTimeText(atMs, nowMs)}`}</li>`
    )}</ol>${detail === null ? "" : html`<span class="soft">${shownText(detail)}</span>`}</li>`
  )}</ul>`;
}

function headers({ headers, headersHref, rawHref }: MailShown): Html | string {
  if (headers !== null) {
    // deno-fmt-ignore
    return html`<h2>Header fields</h2><div class="scroll" tabindex="0" role="region" aria-label="Header fields"><table><tbody>${
      headers.map(([name, value]) => html`<tr><th scope="row">${visibleText(name)}</th><td>${shownText(value)}</td></tr>\n`)
    }</tbody></table></div>${rawHref === null ? "" : html`<p><a href="${rawHref}">The source</a></p>`}`;
  }
  if (headersHref === null && rawHref === null) return "";
  // deno-fmt-ignore
  return html`<p class="soft">${headersHref === null ? "" : html`<a href="${headersHref}">Header fields</a> `}${
    rawHref === null ? "" : html`<a href="${rawHref}">Source</a>`
  }</p>`;
}

/** An address in a text: what a link of ours would lead to, cut where a text ends it. */
const ADDRESS = /https?:\/\/[^\s<>"'`{}|\\^]{1,2000}/g;

/** Addresses of a text that become links: each takes the relay's time, and strangers write how many there are. */
const LINKED = 200;

/**
 * The text with its web addresses as links, which say where they lead and tell nobody where from; of more than
 * 200 the others stay text.
 */
export function withLinks(text: string): Html {
  const parts: Html[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    if (parts.length === LINKED) break;
    const url = withoutStop(found);
    parts.push(html`${visibleText(text.slice(from, index), { keepsLines: true })}${link(url)}`);
    from = index + url.length;
  }
  return html`${parts}${visibleText(text.slice(from), { keepsLines: true })}`;
}

/** An address without what ends the sentence that it stands in. */
function withoutStop(url: string): string {
  let end = url.length;
  while (".,;:!?)]".includes(url[end - 1]!)) end--;
  return url.slice(0, end);
}

function link(url: string): Html {
  const shown = visibleText(url.length > 200 ? `${url.slice(0, 200)}...` : url);
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return html`<bdi>${shown}</bdi>`;
  // The form in which browsers ask for it: a name in other letters, or what does not show, is seen.
  const { href } = new URL(url);
  // deno-fmt-ignore
  return html`<a href="${href}" title="${href.slice(0, 500)}" rel="noreferrer noopener nofollow" target="_blank" referrerpolicy="no-referrer"><bdi>${shown}</bdi></a>`;
}
