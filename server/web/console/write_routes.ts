// Over 300 lines: one form with its four uses, and what each asks of the API.
/** Writing: a new mail, a reply, a forward, and the change of a draft. */
import { createHash } from "node:crypto";
import { html } from "hono/html";
import { RelayError } from "../../base/errors.ts";
import { type Html, shownText } from "../../base/pages/elements.ts";
import { replyTargets } from "../../mail/sending/reply_targets.ts";
import { column } from "../mailbox/mailbox_frame.ts";
import { withLinks } from "../mailbox/reading_pane.ts";
import { calledName } from "../mailbox/view_model.ts";
import { answerConsole, formFields, refusalNote } from "./console_page.ts";
import {
  bodyForm,
  FORM_FIELD,
  page,
  requireFormToken,
  seeOther,
  type SignedInVisit,
} from "./console_route.ts";
import { joinAddresses, readWrittenForm, splitAddresses, type UploadedFile } from "./form_data.ts";
import { type InboxJson, readInboxes } from "./mail_pages.ts";
import type { DraftJson } from "./draft_routes.ts";
import type { WholeJson } from "./shown_mail.ts";

const PATH = "/mail/write";

/** What is written, as its fields have it. */
interface Written {
  /** Id of an inbox, or "". */
  inbox: string;
  /** Ids of what it is about: at most one of them is set. */
  reply: string;
  forward: string;
  draft: string;
  to: string;
  cc: string;
  bcc: string;
  subject: string;
  text: string;
  /** As datetime-local has it, in UTC; "" for at once. */
  send_at: string;
  all: string;
  /** Of this form: with what it says it makes sending twice the same as once. */
  once: string;
}

const FIELDS: readonly (keyof Written)[] = [
  "inbox",
  "reply",
  "forward",
  "draft",
  "to",
  "cc",
  "bcc",
  "subject",
  "text",
  "send_at",
  "all",
  "once",
];

const writePage = page(
  {
    path: PATH,
    id: "openWriting",
    summary: "Write a mail",
    says: "A form for a new mail, a reply, a forward, or a draft that is changed.",
    query: ["inbox", "reply", "forward", "draft", "to"],
  },
  async (visit) => {
    const { inbox = "", reply = "", forward = "", draft = "", to = "" } = visit.query;
    const written: Written = {
      ...{ inbox, reply, forward, draft, to, cc: "", bcc: "", subject: "", text: "", send_at: "" },
      all: "",
      once: crypto.randomUUID(),
    };
    if (draft === "") return await answerForm(visit, written);
    const found = await visit.api.get<DraftJson>(["drafts", draft]);
    return await answerForm(visit, {
      ...written,
      inbox: found.inbox_id,
      to: joinAddresses(found.to),
      cc: joinAddresses(found.cc),
      bcc: joinAddresses(found.bcc),
      subject: found.subject ?? "",
      text: found.text ?? "",
      send_at: found.send_at?.slice(0, 16) ?? "",
    });
  },
);

async function answerForm(
  visit: SignedInVisit,
  written: Written,
  refusal?: RelayError,
): Promise<Response> {
  const { reply, forward, draft } = written;
  const inboxes = await readInboxes(visit);
  const aboutId = reply || forward;
  const about = aboutId === "" ? null : await visit.api.get<WholeJson>(["messages", aboutId]);
  const inbox = inboxes.find(({ id }) => id === (about?.inbox_id ?? written.inbox)) ?? inboxes[0];
  if (inbox === undefined) return seeOther("/mail/org#inboxes");
  const changed = draft === "" ? null : await visit.api.get<DraftJson>(["drafts", draft]);
  const title = reply !== ""
    ? "Reply"
    : forward !== ""
    ? "Forward"
    : draft !== ""
    ? "Change the draft"
    : "New mail";
  const asks = inbox.send_policy === "draft_only" && visit.session.caller.key.scope === "inbox";
  const sendLabel = draft !== "" ? "Save" : asks ? "Ask for approval" : "Send";
  const targets = about !== null && reply !== ""
    ? await whoGetsReply(visit, inbox, about.id)
    : null;
  // deno-fmt-ignore
  const body = html`${refusalNote(refusal)}<form method="post" action="${PATH}" enctype="multipart/form-data">${
    formFields(visit, PATH, { reply, forward, draft, once: written.once })
  }
${fromField(inboxes, inbox, about !== null || changed !== null)}
${targets === null ? recipientFields(written, forward !== "") : html`<p>To ${targets.one}</p>${
    targets.all === null ? "" : html`<p><label class="choice"><input type="checkbox" name="all" value="yes"${written.all === "yes" ? html` checked` : ""}> All: ${targets.all}</label></p>`
  }`}
${about !== null ? "" : html`<div class="field"><label for="subject">Subject</label><input id="subject" name="subject" maxlength="998" value="${written.subject}"></div>`}
<div class="field"><label for="text">Text</label><textarea id="text" name="text"${reply !== "" ? html` autofocus` : ""}>${written.text}</textarea>${
    changed !== null && changed.html !== null ? html`<span class="hint">This draft has HTML too. Saving replaces it by this text.</span>` : ""
  }</div>
${changed === null ? "" : keptFiles(changed)}
${forward !== "" ? html`<p class="hint">The attachments of the mail go with it.</p>` : html`<div class="field"><label for="files">Attachments</label><input id="files" name="files" type="file" multiple><span class="hint">At most 20, together 7 MB.</span></div>`}
${about !== null ? "" : html`<div class="field"><label for="send_at">Send later, UTC</label><input id="send_at" name="send_at" type="datetime-local" value="${written.send_at}"><span class="hint">${
      changed === null || changed.send_at === null ? "Empty: at once" : "Empty: as it was"
    }. At most 30 days ahead.</span></div>`}
<div class="actions"><button class="primary" name="do" value="send">${sendLabel}</button>${
    about === null && changed === null ? html`<button name="do" value="draft">Keep as a draft</button>` : ""
  }</div></form>
${about === null ? "" : html`<h2>${reply !== "" ? "What you answer" : "What you forward"}</h2><div class="card"><p><b>${
    about.from === null ? "No sender" : shownText(calledName(about.from))
  }</b> ${about.subject === null ? "" : shownText(about.subject)}</p><div class="text" dir="auto">${
    withLinks((about.extracted_text ?? about.text ?? "").slice(0, 20_000))
  }</div></div>`}`;
  return await answerConsole(visit, { title, section: "Mail", body: column(title, body), refusal });
}

function fromField(inboxes: readonly InboxJson[], inbox: InboxJson, isFixed: boolean): Html {
  if (isFixed || inboxes.length === 1) {
    return html`<p class="soft">From ${inbox.address}</p><input type="hidden" name="inbox" value="${inbox.id}">`;
  }
  // deno-fmt-ignore
  return html`<div class="field"><label for="inbox">From</label><select id="inbox" name="inbox">${
    inboxes.map(({ id, address }) => html`<option value="${id}"${id === inbox.id ? html` selected` : ""}>${address}</option>`)
  }</select></div>`;
}

function recipientFields({ to, cc, bcc }: Written, isForward: boolean): Html {
  const field = (name: string, label: string, value: string, isRequired: boolean) =>
    // deno-fmt-ignore
    html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${value}" autocomplete="off"${
      isRequired ? html` required` : ""
    }${name === "to" ? html` autofocus` : ""}></div>`;
  // deno-fmt-ignore
  return html`${field("to", "To", to, isForward)}<details${cc !== "" || bcc !== "" ? html` open` : ""}><summary class="soft">Copies</summary>${
    field("cc", "Cc", cc, false)
  }${field("bcc", "Bcc, hidden from the others", bcc, false)}</details>`;
}

function keptFiles({ attachments }: DraftJson): Html | string {
  if (attachments.length === 0) return "";
  // deno-fmt-ignore
  return html`<fieldset><legend>Attachments that stay</legend>${attachments.map(({ id, filename }) =>
    html`<p><label class="choice"><input type="checkbox" name="keep-${id}" value="yes" checked> ${shownText(filename ?? id)}</label></p>`
  )}</fieldset>`;
}

/** Whom the API will answer, said before it does. */
async function whoGetsReply(
  { mail: { messages, limits }, session: { caller } }: SignedInVisit,
  inbox: InboxJson,
  messageId: string,
): Promise<{ one: Html; all: Html | null }> {
  const row = await messages.find(caller, messageId);
  const named = (replyAll: boolean) => {
    try {
      const { to, cc } = replyTargets(row, { ownAddress: inbox.address, replyAll, limits });
      return joinAddresses([...to, ...cc]);
    } catch (error) {
      if (error instanceof RelayError) return null;
      throw error;
    }
  };
  const [one, all] = [named(false), named(true)];
  return {
    one: one === null ? html`nobody: the mail names no address to answer to` : shownText(one),
    all: all === null || all === one ? null : shownText(all),
  };
}

interface Accepted {
  id?: string;
  thread_id?: string;
  status?: string;
  draft?: { id: string };
}

const sendWritten = bodyForm(
  {
    path: PATH,
    id: "sendWritten",
    summary: "Send what was written",
    says: "Sends a mail, a reply or a forward, or keeps or changes a draft.",
  },
  "mailRequestBytes",
  async (visit) => {
    const form = await readWrittenForm(visit.c);
    requireFormToken(visit, form.text(FORM_FIELD));
    const fields = FIELDS.map((name) => [name, form.text(name)]);
    const written = Object.fromEntries(fields) as Written;
    try {
      if (written.draft !== "") return await changeDraft(visit, written, form.files, form.text);
      if (form.text("do") === "draft") return await keepDraft(visit, written, form.files);
      return await send(visit, written, form.files);
    } catch (error) {
      if (!(error instanceof RelayError) || error.code === "unknown_key") throw error;
      return await answerForm(visit, written, error);
    }
  },
);

async function send(
  { api }: SignedInVisit,
  written: Written,
  attachments: UploadedFile[],
): Promise<Response> {
  const { reply, forward, inbox, text, all } = written;
  const headers = { "Idempotency-Key": onceOf(written, attachments) };
  const sent = reply !== ""
    ? await api.send<Accepted>(
      "POST",
      ["messages", reply, "reply"],
      { text, attachments, reply_all: all === "yes" },
      headers,
    )
    : forward !== ""
    ? await api.send<Accepted>(
      "POST",
      ["messages", forward, "forward"],
      { ...recipientsOf(written), text: text === "" ? null : text },
      headers,
    )
    : await api.send<Accepted>(
      "POST",
      ["inboxes", inbox, "messages", "send"],
      { ...messageOf(written), attachments },
      headers,
    );
  return seeOther(
    sent?.draft === undefined
      ? `/mail/threads/${sent!.thread_id}`
      : `/mail/waiting/${sent.draft.id}`,
  );
}

/**
 * The same for a form that is pressed twice, another once it says something else, as after the way back to it:
 * what was changed must not be taken for what was kept before.
 */
function onceOf(written: Written, files: readonly UploadedFile[]): string {
  const hash = createHash("sha256").update(JSON.stringify(written));
  for (const { filename, content_type, content } of files) {
    hash.update(JSON.stringify([filename, content_type])).update(content);
  }
  return hash.digest("base64url");
}

async function keepDraft(
  { api }: SignedInVisit,
  written: Written,
  attachments: UploadedFile[],
): Promise<Response> {
  const client_id = onceOf(written, attachments);
  const draft = await api.send<DraftJson>("POST", ["inboxes", written.inbox, "drafts"], {
    ...messageOf(written),
    attachments,
    client_id,
  });
  return seeOther(`/mail/waiting/${draft!.id}`);
}

async function changeDraft(
  { api }: SignedInVisit,
  written: Written,
  added: UploadedFile[],
  field: (name: string) => string,
): Promise<Response> {
  const { draft } = written;
  const before = await api.get<DraftJson>(["drafts", draft]);
  const kept = before.attachments.filter(({ id }) => field(`keep-${id}`) === "yes")
    .map(({ id }) => ({ id }));
  const { send_at, ...message } = messageOf(written);
  await api.send("PATCH", ["drafts", draft], {
    ...message,
    ...(send_at === undefined ? {} : { send_at }),
    html: null,
    attachments: [...kept, ...added],
  });
  return seeOther(`/mail/waiting/${draft}`);
}

function recipientsOf({ to, cc, bcc }: Written) {
  return { to: splitAddresses(to), cc: splitAddresses(cc), bcc: splitAddresses(bcc) };
}

function messageOf(written: Written) {
  const { subject, text, send_at } = written;
  return {
    ...recipientsOf(written),
    subject: subject === "" ? null : subject,
    text: text === "" ? null : text,
    ...(send_at === "" ? {} : { send_at: `${send_at}:00Z` }),
  };
}

export const WRITE_ROUTES = [writePage, sendWritten];
