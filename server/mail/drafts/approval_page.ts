/** The page on which a person reads a draft, all of it, and decides (docs/mail.md). */
import { html, raw } from "hono/html";
import { answerPage } from "../../base/pages/answer_page.ts";
import { factList, type Html, notice, postButton, shownText } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import type { ExtraHeader } from "../records/message_content.ts";
import { minuteOf } from "../../base/notices/notice_mail.ts";
import { removeInvisible } from "../reading/mime/invisible_characters.ts";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import type { DraftRow } from "../records/draft_record.ts";
import type { DraftPreview } from "../composing/reducing/preview_draft.ts";

/** Stylesheet, icon and the frame with the HTML of the draft are the relay's; nothing runs. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A draft as the page shows it. */
export interface ShownForApproval {
  row: DraftRow;
  from: MailAddress;
  preview: DraftPreview;
  headers: readonly ExtraHeader[];
  /** First characters of the key that made it; null where the key has gone. */
  keyPrefix: string | null;
  /** Subject of the message that it answers; null where it answers none, or one without. */
  answers: { subject: string | null } | "gone" | null;
  /** What it lacks to be sent, in words; null where nothing. */
  missing: string | null;
  nowMs: number;
}

export interface Decision {
  /** Token of the very revision that is shown. */
  token: string;
  /**
   * True where somebody came with the link of another revision: the page then has no button, so that
   * nobody presses what they have not read yet.
   */
  isStale: boolean;
}

async function answer(
  title: string,
  body: Html,
  status: number,
  isWide = false,
): Promise<Response> {
  const headers = { "Content-Security-Policy": POLICY };
  return answerPage(await frame(title, body, { isWide }), { status, headers });
}

/** Everything that would be sent, and the buttons. */
export function answerDraft(
  draft: ShownForApproval,
  { token, isStale }: Decision,
  status = 200,
): Promise<Response> {
  const { row, missing } = draft;
  const path = `/mail/drafts/${row.id}`;
  const body = html`${
    isStale
      ? notice(
        "warning",
        html`This mail was changed after your link was made, and nothing was approved. Below is what it
says now.`,
      )
      : html`<p class="lead">An agent wrote this mail. It is sent as it stands here, or not at all.</p>`
  }
${hiddenNotice(draft)}
<h2>Who gets it, and what it is</h2>
${facts(draft)}
<h2>What it says</h2>
${texts(draft, `${path}/html?token=${token}`)}
<h2>Attachments</h2>
${attachments(row)}
<h2>Your decision</h2>
${missing === null ? "" : notice("warning", html`It cannot be sent as it is: ${missing}.`)}
${
    isStale
      ? html`<p><a class="button secondary" href="${path}?token=${token}">Decide on this version</a></p>`
      : html`<div class="actions">${
        missing !== null ? "" : postButton({
          action: path,
          label: "Approve and send",
          fields: { token, action: "approve" },
        })
      }${
        postButton({
          action: path,
          label: "Reject and discard",
          fields: { token, action: "reject" },
          kind: "danger",
        })
      }</div>
<p class="soft">Close this page to decide later: the link works until ${
        minuteOf(row.asked!.links.at(-1)!.untilMs)
      }.</p>`
  }`;
  const title = isStale ? "This mail was changed" : "Approve this mail?";
  return answer(title, body, status, true);
}

export function answerSent({ row }: Pick<ShownForApproval, "row">, isScheduled: boolean) {
  const count = row.to.length + row.cc.length + row.bcc.length;
  return answer(
    "Approved",
    notice(
      "success",
      `The mail ${isScheduled ? "is scheduled" : "is on its way"} to ${
        count === 1 ? "its recipient" : `its ${count} recipients`
      }.`,
    ),
    200,
  );
}

export function answerRejected(): Promise<Response> {
  return answer(
    "Rejected",
    notice("success", "The mail is discarded. Nothing was sent."),
    200,
  );
}

/** A link that does nothing, for whatever reason. */
export function answerGone(): Promise<Response> {
  return answer(
    "This link does not work",
    notice(
      "warning",
      "The mail was sent or discarded, or the link is too old: it works for 72 hours. Who writes the mail asks anew when it is changed.",
    ),
    410,
  );
}

/** What is said of a draft that holds what nobody sees who reads it. */
export const HIDDEN_IN_DRAFT =
  "Something in this mail is hidden from those who read it: text that does not show, or characters without a look of their own. Programs that read the mail see it.";

/** Whether one of the subject, names and values beside the texts of a draft holds what does not show. Pure. */
export function hasHidden(words: readonly (string | null)[]): boolean {
  return words.some((one) => one !== null && removeInvisible(one).removed);
}

function hiddenNotice({ row, preview, headers, from }: ShownForApproval): Html | string {
  const people = [from, ...row.to, ...row.cc, ...row.bcc, ...row.replyTo];
  const isHidden = preview.hasHidden || hasHidden([
    row.subject,
    ...people.map(({ name }) => name),
    ...row.attachments.map(({ filename }) => filename),
    ...headers.map(({ value }) => value),
  ]);
  return isHidden ? notice("warning", HIDDEN_IN_DRAFT) : "";
}

function facts(draft: ShownForApproval): Html {
  const { row, from, headers, keyPrefix, answers, nowMs } = draft;
  const { to, cc, bcc, replyTo, labels, subject, sendAtMs } = row;
  return factList([
    ["From", address(from)],
    ["To", to.length === 0 ? "nobody yet" : addresses(to)],
    cc.length === 0 ? null : ["Cc", addresses(cc)],
    bcc.length === 0 ? null : ["Bcc, hidden from the others", addresses(bcc)],
    replyTo.length === 0 ? null : ["Answers go to", addresses(replyTo)],
    ["Subject", subject === null ? html`<span class="soft">none</span>` : shownText(subject)],
    answers === null ? null : ["Answers the message", answered(answers)],
    ["Goes out", sendAtMs === null || sendAtMs <= nowMs ? "at once" : minuteOf(sendAtMs)],
    labels.length === 0 ? null : ["Labels", labels.join(", ")],
    headers.length === 0 ? null : [
      "Header fields",
      html`<div class="lines">${
        headers.map(({ name, value }) =>
          html`<span><code>${name}</code> ${shownText(value)}</span>`
        )
      }</div>`,
    ],
    [
      "Made",
      html`${minuteOf(row.createdAtMs)}, by ${
        keyPrefix === null
          ? "an API key that is deleted by now"
          : html`the API key that begins with <code>${keyPrefix}</code>`
      }`,
    ],
    row.revision === 1
      ? null
      : ["Changed", `${minuteOf(row.updatedAtMs)}, to version ${row.revision}`],
  ]);
}

function answered(answers: NonNullable<ShownForApproval["answers"]>): Html | string {
  if (answers === "gone") return "one that is deleted by now: it goes out as a mail of its own";
  return answers.subject === null ? "one without a subject" : shownText(answers.subject);
}

function addresses(list: readonly MailAddress[]): Html {
  return html`<div class="lines">${list.map((one) => html`<span>${address(one)}</span>`)}</div>`;
}

function address({ name, address }: MailAddress): Html {
  return name === null
    ? shownText(address)
    : html`${shownText(name)} &lt;${shownText(address)}&gt;`;
}

/**
 * The preview is escaped already.
 * @param address of the HTML
 */
function texts(
  { row, preview: { text, extracted, otherLinks } }: ShownForApproval,
  address: string,
): Html {
  const plain = text === null ? "" : html`<h3>As plain text</h3>
<pre><bdi>${raw(text)}</bdi></pre>`;
  if (extracted === null) {
    return text === null ? html`<p class="soft">Nothing yet.</p>` : html`${plain}`;
  }
  return html`
    <h3>As HTML</h3>
    <p
      class="hint">As it goes out. Drag the lower edge to see more of it at a time; its links do nothing here.</p>
    <iframe class="mail-html" sandbox="" title="The HTML of the mail" referrerpolicy="no-referrer"
      src="${address}"></iframe>
    ${removedFrom(row)}
    <h3>The words of the HTML</h3>
    <p class="hint">With the addresses of its links${text === null
      ? "; they go out as its plain text"
      : ""}.</p>
    <pre><bdi>${raw(extracted)}</bdi></pre>
    ${otherLinks === "" ? "" : html`<h3>Links that its words do not tell</h3>
<p class="hint">They write a mail, or have no words.</p>
<pre><bdi>${raw(otherLinks)}</bdi></pre>`}
    ${plain}
  `;
}

function removedFrom({ reduced }: DraftRow): Html | string {
  if (reduced === undefined || reduced === null || reduced.length === 0) return "";
  return html`<p class="hint">Taken out of the HTML when it was written, so that what is seen here is what goes
out: ${reduced.map((name, i) => html`${i === 0 ? "" : ", "}<code>${name}</code>`)}.</p>`;
}

function attachments({ attachments }: DraftRow): Html {
  if (attachments.length === 0) return html`<p class="soft">None.</p>`;
  return html`<ul class="records">${
    attachments.map(({ filename, contentType, sizeBytes, sha256, contentId }) =>
      html`<li>${
        factList([
          ["File", shownText(filename)],
          ["Type", html`<code>${contentType}</code>`],
          ["Size", sizeBytes === 1 ? "1 byte" : `${sizeBytes.toLocaleString("en")} bytes`],
          contentId === null ? null : ["Stands inline as", html`<code>${contentId}</code>`],
          ["SHA-256", html`<code>${sha256}</code>`],
        ])
      }</li>`
    )
  }</ul>`;
}
