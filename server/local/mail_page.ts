/**
 * Captured mail as pages. What others wrote is shown as text alone; links of mails are shown by their
 * address, so that none looks like another.
 */
import { html } from "hono/html";
import { factList } from "../pages/fact_list.ts";
import { frame } from "../pages/frame.ts";
import type { Html } from "../pages/html.ts";
import { shownText } from "../pages/shown_text.ts";
import { visibleText } from "../pages/visible_text.ts";
import type { CapturedMail } from "./captured_mails.ts";

/** @param domain of the relay's inboxes */
export function mailListPage(
  mails: readonly CapturedMail[],
  domain: string,
): Promise<string> {
  const body =
    html`<p>Local mode: what this relay sends is kept here and goes nowhere. It keeps the newest 500 mails
in memory, 64 MiB at most, until it stops. Its inboxes are at <code>${domain}</code>.</p>
<p>Recipients at <code>bounce.test</code> and <code>defer.test</code> are refused, for good and for a time; at
<code>unknown.test</code> mail is taken without a reply. One click on a code selects it.</p>
${
      mails.length === 0
        ? html`<p>Nothing was sent yet. Load this page again after something was.</p>`
        : html`<ol class="records">${mails.map(itemOf)}</ol>`
    }`;
  return frame("Captured mail", body, { isWide: true });
}

export function mailPage(mail: CapturedMail): Promise<string> {
  const { number, content } = mail;
  const { attachments } = content;
  const body = html`<p><a href="/dev/mail">All captured mail</a></p>
<div class="card">${factsOf(mail)}</div>
${content.isCut ? html`<p>The mail is long: this is its beginning.</p>` : ""}
${
    content.text === ""
      ? html`<p>It has no text.</p>`
      : html`<pre>${shownText(content.text, { keepsLines: true })}</pre>`
  }
${
    attachments.length === 0 ? "" : html`<h2>Attachments</h2>
<ul>${
      attachments.map(({ filename, content_type }) =>
        html`<li>${shownText(filename)} (${shownText(content_type)})</li>`
      )
    }</ul>`
  }
<p>${
    content.hasHtml ? "Its HTML part is not shown. " : ""
  }<a href="/dev/mail/${number}/raw">The mail as it was sent</a></p>`;
  return frame(subjectOf(mail), body, { isWide: true });
}

function itemOf(mail: CapturedMail): Html {
  return html`<li><h2><a href="/dev/mail/${mail.number}">${shownText(subjectOf(mail))}</a></h2>
${factsOf(mail)}</li>`;
}

function factsOf({ from, to, atMs, result, content: { links, codes } }: CapturedMail): Html {
  const time = new Date(atMs).toISOString();
  return factList([
    ["From", from === "" ? "nobody (the null sender)" : shownText(from)],
    ["To", shownText(to)],
    ["Sent", result === "unknown" ? `${time}, without a reply: the outcome is unknown` : time],
    codes.length === 0 ? null : ["Codes", linesOf(codes.map(codeOf))],
    links.length === 0 ? null : ["Links", linesOf(links.map(linkOf))],
  ]);
}

function linesOf(items: readonly Html[]): Html {
  return html`<div class="lines">${items}</div>`;
}

function codeOf(code: string): Html {
  return html`<code class="copy">${visibleText(code)}</code>`;
}

/** @param url of http or https, as findLinks() gives it */
function linkOf(url: string): Html {
  return html`<a href="${url}" rel="noopener noreferrer">${visibleText(url)}</a>`;
}

/** As the mail has it: hidden characters and all. */
function subjectOf({ content: { subject } }: CapturedMail): string {
  return subject === "" ? "(no subject)" : subject;
}
