/** Drafts that wait: exactly what will be sent, and the decision beside it. */
import { html, raw } from "hono/html";
import type { z } from "@hono/zod-openapi";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { type Html, shownText } from "../../base/pages/elements.ts";
import { hasHidden, HIDDEN_IN_DRAFT } from "../../mail/drafts/approval_page.ts";
import type { Draft } from "../../mail/mailbox/shown/draft_schemas.ts";
import { column } from "../mailbox/mailbox_frame.ts";
import { heightOf, sizeText } from "../mailbox/reading_pane.ts";
import { shortTimeText } from "../mailbox/short_time.ts";
import { calledName, type Person } from "../mailbox/view_model.ts";
import { answerConsole, confirmedButton, formButton, refusalNote } from "./console_page.ts";
import { form, page, seeOther, type SignedInVisit } from "./console_route.ts";
import { type InboxJson, readInboxes } from "./mail_pages.ts";

export type DraftJson = z.infer<typeof Draft>;
type ListedDraft = Omit<DraftJson, "text" | "html" | "headers">;

/** Of each inbox: more of them are shown when some have gone. */
const LISTED = 50;

async function readDrafts(
  visit: SignedInVisit,
): Promise<{ draft: ListedDraft; inbox: InboxJson }[]> {
  const inboxes = await readInboxes(visit);
  const lists = await Promise.all(inboxes.map(async (inbox) => {
    const path = ["inboxes", inbox.id, "drafts"];
    const { data } = await visit.api.get<{ data: ListedDraft[] }>(path, { limit: LISTED });
    return data.map((draft) => ({ draft, inbox }));
  }));
  // Who has waited longest is decided on first.
  return lists.flat().toSorted((a, b) => a.draft.updated_at < b.draft.updated_at ? -1 : 1);
}

const listDrafts = page(
  {
    path: "/mail/waiting",
    id: "openDrafts",
    summary: "Drafts",
    says: "Drafts of all inboxes of the session, the one that has waited longest first.",
    query: ["done"],
  },
  async (visit) => {
    const { query, nowMs } = visit;
    const drafts = await readDrafts(visit);
    const done = { sent: "It is on its way.", rejected: "It is discarded. Nothing was sent." };
    const told = done[query["done"] as keyof typeof done];
    // deno-fmt-ignore
    const rows = drafts.map(({ draft, inbox }) => html`<li><a class="row" href="/mail/waiting/${draft.id}"><span class="dot"></span><span class="who">To ${
      draft.to.length === 0 ? "nobody yet" : shownText(calledName(draft.to[0]!))
    }</span><span class="what"><span class="subject">${
      draft.subject === null ? html`<span class="soft">no subject</span>` : shownText(draft.subject)
    }</span>${inbox.send_policy === "draft_only" ? html`<span class="chip warn">waits for approval</span>` : ""}</span><span class="preview">from ${inbox.address}</span>${
      shortTimeText(Date.parse(draft.updated_at), nowMs)
    }</a></li>\n`);
    const body = html`${
      told === undefined ? "" : html`<p class="note ok" role="status">${told}</p>`
    }${
      drafts.length === 0
        ? html`
          <p
            class="empty">Nothing waits. What your agents write for an inbox that asks first, and what you keep, is here.</p>
        `
        : html`
          <div class="list">
            <ol class="rows">${rows}</ol>
          </div>
        `
    }`;
    return await answerConsole(visit, {
      title: "Drafts",
      section: "Drafts",
      body: column("Drafts", body),
    });
  },
);

const readDraft = page(
  {
    path: "/mail/waiting/{id}",
    id: "openDraft",
    summary: "A draft",
    says: "Exactly what will be sent, to whom, and the buttons that decide. Looking does nothing.",
  },
  (visit) => answerDraftPage(visit),
);

/** @param refusal why a decision was refused; where the draft has changed meanwhile there are no buttons */
async function answerDraftPage(visit: SignedInVisit, refusal?: RelayError): Promise<Response> {
  const { api, params, mail: { reader }, session: { caller } } = visit;
  const draft = await api.get<DraftJson>(["drafts", params["id"]!]);
  const inbox = await api.get<InboxJson>(["inboxes", draft.inbox_id]);
  const { text, html: given } = draft;
  const section = new TextEncoder().encode(JSON.stringify({ text, html: given, headers: [] }));
  const preview = await reader.preview(section, caller.org.id);
  const isStale = refusal?.code === "draft_changed";
  // Only what a person has to approve is reduced before it goes out.
  const isAsShown = inbox.send_policy === "draft_only";
  const title = draft.subject ?? "no subject";
  // deno-fmt-ignore
  const body = html`<section class="pane draft">${refusalNote(refusal)}${
    isStale ? html`<p class="note warn">This mail was changed while you read it, and nothing was sent. Below is what it says now.</p>` : ""
  }
${facts(visit, draft, inbox)}
${preview.hasHidden || hasHidden(namesIn(draft, inbox)) ? html`<p class="note warn">${HIDDEN_IN_DRAFT}</p>` : ""}${
    draft.html_reduced.length === 0 ? "" : html`<p class="note">Taken out of the HTML, so that what you see is what goes out: ${draft.html_reduced.join(", ")}.</p>`
  }
${given === null ? "" : html`<h2>${isAsShown ? "As it goes out" : "The HTML"}</h2>${
    isAsShown ? "" : html`<p class="note">This inbox sends HTML as it was written: what it hides, or has readers load from elsewhere, goes out too and does not show here.</p>`
  }<iframe class="mail-html" sandbox="" title="The HTML of the mail" referrerpolicy="no-referrer" height="${heightOf(text ?? preview.extracted ?? "", given)}" src="/mail/drafts/${draft.id}/html"></iframe>`}
${text === null ? "" : html`<h2>${given === null ? "Text" : "As plain text"}</h2><div class="text" dir="auto">${raw(preview.text ?? "")}</div>`}
${given === null || text !== null ? "" : html`<details><summary class="soft">The words of the HTML</summary><div class="text" dir="auto">${raw(preview.extracted ?? "")}</div></details>`}
${preview.otherLinks === "" ? "" : html`<h2>Links that its words do not tell</h2><div class="text">${raw(preview.otherLinks)}</div>`}
${files(draft)}
${decision(visit, draft, inbox, isStale)}</section>`;
  return await answerConsole(visit, {
    title,
    section: "Drafts",
    body: column(shownText(title), body),
    refusal,
  });
}

function facts({ nowMs }: SignedInVisit, draft: DraftJson, inbox: InboxJson): Html {
  const { to, cc, bcc, reply_to, send_at, labels, headers, revision } = draft;
  const row = (name: string, value: Html | string) => html`<dt>${name}</dt><dd>${value}</dd>\n`;
  const fields = Object.entries(headers);
  // deno-fmt-ignore
  return html`<dl class="pairs">${row("To", to.length === 0 ? "nobody yet" : everybody(to))}${
    cc.length === 0 ? "" : row("Cc", everybody(cc))
  }${bcc.length === 0 ? "" : row("Bcc, hidden", everybody(bcc))}${
    reply_to.length === 0 ? "" : row("Answers go to", everybody(reply_to))
  }${row("From", everybody([{ name: inbox.display_name ?? null, address: inbox.address }]))}${
    row("Goes out", send_at === null || Date.parse(send_at) <= nowMs ? "at once, when it is approved" : html`${send_at.slice(0, 16).replace("T", " ")} UTC`)
  }${draft.in_reply_to_message_id === null ? "" : row("Answers", html`<a href="/mail/messages/${draft.in_reply_to_message_id}">this mail</a>`)}${
    labels.length === 0 ? "" : row("Labels", labels.join(", "))
  }${fields.length === 0 ? "" : row("Header fields", html`${fields.map(([name, value]) => html`<code>${name}</code> ${shownText(value)} `)}`)}${
    row("Written", html`${shortTimeText(Date.parse(draft.updated_at), nowMs)}${revision === 1 ? "" : `, version ${revision}`}`)
  }</dl>`;
}

/** What stands in a draft beside its texts. */
function namesIn(draft: DraftJson, { display_name = null }: InboxJson): (string | null)[] {
  const { subject, to, cc, bcc, reply_to, attachments, headers } = draft;
  return [
    subject,
    display_name,
    ...[...to, ...cc, ...bcc, ...reply_to].map(({ name }) => name),
    ...attachments.map(({ filename }) => filename),
    ...Object.values(headers),
  ];
}

/** All of them: a draft is approved for each. */
function everybody(list: readonly Person[]): Html {
  return html`${
    list.map(({ name, address }, i) =>
      html`${i === 0 ? "" : ", "}${
        name === null ? "" : html`
          ${shownText(name)}
        `
      }${
        name === null ? shownText(address) : html`<span class="soft">${shownText(address)}</span>`
      }`
    )
  }`;
}

function files({ attachments }: DraftJson): Html | string {
  if (attachments.length === 0) return "";
  // deno-fmt-ignore
  return html`<h2>Attachments</h2><ul class="files">${attachments.map(({ filename, content_type, size, sha256 }) =>
    html`<li>${shownText(filename ?? "without a name")} <span class="soft">${content_type}, ${sizeText(size)}, SHA-256 <code>${sha256}</code></span></li>`
  )}</ul>`;
}

function decision(
  visit: SignedInVisit,
  draft: DraftJson,
  inbox: InboxJson,
  isStale: boolean,
): Html {
  const path = `/mail/waiting/${draft.id}`;
  if (isStale) {
    return html`
      <div
        class="actions decision"><a class="button primary" href="${path}">Decide on this version</a></div>
    `;
  }
  const revision = String(draft.revision);
  const isApproval = inbox.send_policy === "draft_only";
  const { key } = visit.session.caller;
  const may = key.permissions.includes("inbox:write") && (!isApproval || key.scope === "org");
  // deno-fmt-ignore
  return html`<div class="actions decision">${
    !may ? html`<span class="soft">This session may look, and not decide.</span>`
      : formButton(visit, path, isApproval ? "Approve and send" : "Send", { do: "send", revision }, { kind: "primary" })
  }<a class="button" href="/mail/write?draft=${draft.id}">Edit</a><a class="button" href="/mail/waiting/${draft.id}/next">Next</a>${
    !may ? "" : confirmedButton(isApproval ? "Reject" : "Discard", "It goes for good. Nothing is sent.", formButton(visit, path, "Discard this draft", { do: "discard", revision }, { kind: "danger" }))
  }</div>`;
}

const decide = form(
  {
    path: "/mail/waiting/{id}",
    id: "decideOnWaitingDraft",
    summary: "Send or discard a draft",
    says:
      "Does it for the very revision that was read; of another one nothing is done, and it is shown.",
  },
  ["do", "revision"],
  async (visit, { do: what, revision = "" }) => {
    const { api, params } = visit;
    const id = params["id"]!;
    const read = Number(revision);
    try {
      if (what === "send") {
        await api.send("POST", ["drafts", id, "send"], { revision: read });
      } else if (what === "discard") {
        const { revision: now } = await api.get<DraftJson>(["drafts", id]);
        if (now !== read) {
          throw new RelayError(
            "draft_changed",
            `the draft has revision ${now} by now: read it anew`,
          );
        }
        await api.send("DELETE", ["drafts", id]);
      } else throw invalidJson("do must be send or discard");
    } catch (error) {
      const isShown = error instanceof RelayError && error.code !== "unknown_key" &&
        error.code !== "not_found";
      if (!isShown) throw error;
      return await answerDraftPage(visit, error);
    }
    return seeOther(`/mail/waiting?done=${what === "send" ? "sent" : "rejected"}`);
  },
);

const nextDraft = page(
  {
    path: "/mail/waiting/{id}/next",
    id: "openNextDraft",
    summary: "The next draft",
    says: "Leads to the draft that waits after one.",
  },
  async (visit) => {
    const drafts = await readDrafts(visit);
    const at = drafts.findIndex(({ draft }) => draft.id === visit.params["id"]);
    const next = drafts[at + 1]?.draft.id;
    return seeOther(next === undefined ? "/mail/waiting" : `/mail/waiting/${next}`);
  },
);

export const WAITING_ROUTES = [listDrafts, readDraft, decide, nextDraft];
