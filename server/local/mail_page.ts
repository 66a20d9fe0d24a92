/**
 * Captured mail as pages. What others wrote is shown as text alone; links of mails are shown by their
 * address, so that none looks like another.
 */
import { html } from "hono/html";
import { type Html, pageOf } from "../http/page.ts";
import { CONTROLS } from "../http/text_fields.ts";
import type { CapturedMail } from "./captured_mails.ts";

const STYLE = `
html { background: Canvas; color: CanvasText; }
main { overflow-wrap: anywhere; }
ol { list-style: none; padding: 0; }
ol > li { border-top: 1px solid; padding: 0.75rem 0; }
dl { display: grid; gap: 0.25rem 1rem; grid-template-columns: max-content minmax(0, 1fr); margin: 0.5rem 0; }
dt { font-weight: bold; }
dd { margin: 0; }
dd a { display: block; }
pre { border: 1px solid; padding: 1rem; white-space: pre-wrap; }
.copy { user-select: all; }
`;

const ALL_CONTROLS = new RegExp(CONTROLS.source, "g");

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
        : html`<ol>${mails.map(itemOf)}</ol>`
    }`;
  return pageOf("Captured mail", body, STYLE);
}

export function mailPage(mail: CapturedMail): Promise<string> {
  const { number, content } = mail;
  const { attachments } = content;
  const body = html`<p><a href="/dev/mail">All captured mail</a></p>
${factsOf(mail)}
${content.isCut ? html`<p>The mail is long: this is its beginning.</p>` : ""}
${content.text === "" ? html`<p>It has no text.</p>` : html`<pre>${showable(content.text)}</pre>`}
${
    attachments.length === 0 ? "" : html`<h2>Attachments</h2>
<ul>${
      attachments.map(({ filename, content_type }) =>
        html`<li>${showable(filename)} (${showable(content_type)})</li>`
      )
    }</ul>`
  }
<p>${
    content.hasHtml ? "Its HTML part is not shown. " : ""
  }<a href="/dev/mail/${number}/raw">The mail as it was sent</a></p>`;
  return pageOf(subjectOf(mail), body, STYLE);
}

function itemOf(mail: CapturedMail): Html {
  return html`<li><a href="/dev/mail/${mail.number}">${subjectOf(mail)}</a>
${factsOf(mail)}</li>`;
}

function factsOf({ from, to, atMs, result, content: { links, codes } }: CapturedMail): Html {
  return html`<dl>
<dt>From</dt><dd>${from === "" ? "nobody (the null sender)" : showable(from)}</dd>
<dt>To</dt><dd>${showable(to)}</dd>
<dt>Sent</dt><dd>${new Date(atMs).toISOString()}${
    result === "unknown" ? ", without a reply: the outcome is unknown" : ""
  }</dd>
${
    codes.length === 0 ? "" : html`
      <dt>Codes</dt>
      <dd>${codes.map(codeOf)}</dd>
    `
  }
${
    links.length === 0 ? "" : html`
      <dt>Links</dt>
      <dd>${links.map(linkOf)}</dd>
    `
  }
</dl>`;
}

function codeOf(code: string): Html {
  return html`
    <code class="copy">${code}</code>
  `;
}

/** @param url of http or https, as findLinks() gives it */
function linkOf(url: string): Html {
  return html`<a href="${url}" rel="noopener noreferrer">${url}</a>`;
}

function subjectOf({ content: { subject } }: CapturedMail): string {
  return subject === "" ? "(no subject)" : showable(subject);
}

/** Text without characters that change how what stands beside it is read; lines and tabs stay. */
function showable(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(
    ALL_CONTROLS,
    (one) => one === "\n" || one === "\t" ? one : "\ufffd",
  );
}
