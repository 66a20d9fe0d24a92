/**
 * Captured mail as pages. What others wrote is shown as text alone; links of mails are shown by their
 * address, so that none looks like another.
 */
import { html } from "hono/html";
import { factList, type Html, notice, postButton, shownText } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import { visibleText } from "../../base/pages/visible_text.ts";
import type { CapturedMail } from "./captured_mails.ts";

/** What a form has done, by the name in the query of the page that it leads back to. */
const NOTICES = {
  handed_in: "The mail was handed in, and its inbox has it.",
  reply: "A reply was handed in, with this mail quoted.",
  bounce: "A report that this mail could not be delivered was handed in.",
  out_of_office: "An out-of-office answer was handed in.",
};
export type NoticeName = keyof typeof NOTICES;

/**
 * @param domain of the relay's inboxes
 * @param told a NoticeName; anything else is ignored
 */
export function mailListPage(
  mails: readonly CapturedMail[],
  domain: string,
  told: string | null,
): Promise<string> {
  const body = html`${
    noticeOf(told)
  }<p>Local mode: what this relay sends is kept here and goes nowhere. It keeps the newest 500 mails
in memory, 64 MiB at most, until it stops. Its inboxes are at <code>${domain}</code>.</p>
<p>Recipients at <code>bounce.test</code> and <code>defer.test</code> are refused, for good and for a time; at
<code>unknown.test</code> mail is taken without a reply. One click on a code selects it.
<a href="/dev/webhooks">Deliveries of webhooks</a> have a page of their own.</p>
${handInForm(domain)}
<h2>What was sent</h2>
${
    mails.length === 0
      ? html`<p>Nothing was sent yet. Load this page again after something was.</p>`
      : html`<ol class="records">${mails.map(itemOf)}</ol>`
  }`;
  return frame("Captured mail", body, { isWide: true });
}

/** @param told a NoticeName; anything else is ignored */
export function mailPage(mail: CapturedMail, told: string | null): Promise<string> {
  const { number, content } = mail;
  const { attachments } = content;
  const body = html`${noticeOf(told)}<p><a href="/dev/mail">All captured mail</a></p>
<div class="card">${factsOf(mail)}${answerButtons(mail)}</div>
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
  return html`<li><h3><a href="/dev/mail/${mail.number}">${shownText(subjectOf(mail))}</a></h3>
${factsOf(mail)}${answerButtons(mail)}</li>`;
}

function noticeOf(told: string | null): Html | string {
  const isKnown = told !== null && Object.hasOwn(NOTICES, told);
  return isKnown ? notice("success", NOTICES[told as NoticeName]) : "";
}

/** The mail comes from outside: who writes it need not exist. */
function handInForm(domain: string): Html {
  // deno-fmt-ignore
  return html`<details><summary>Hand in a mail, as if it came from outside</summary>
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
<button>Hand in</button></form></details>`;
}

/** What the other side would send; words for each are in compose_answer.ts. */
function answerButtons({ number }: CapturedMail): Html {
  const action = `/dev/mail/${number}/answer`;
  const button = (as: string, label: string) =>
    postButton({ action, label, fields: { as }, kind: "secondary" });
  return html`<div class="actions">${button("reply", "Reply")}
${button("bounce", "Bounce")}
${button("out_of_office", "Out of office")}</div>`;
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

/** As in the mail: hidden characters and all. */
function subjectOf({ content: { subject } }: CapturedMail): string {
  return subject === "" ? "(no subject)" : subject;
}
