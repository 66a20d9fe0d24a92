/** Routes of the mailbox: lists, threads, files, the HTML of a mail, what is done about them, and what comes. */
import { invalidJson } from "../../base/errors.ts";
import { LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import { answerHtml, shownPictures, writeShownHtml } from "../../mail/drafts/answer_html.ts";
import { escapeHtml } from "../../mail/composing/reducing/clean_text.ts";
import { ownPictures } from "../../mail/composing/reducing/reduced_addresses.ts";
import { REST } from "../../mail/records/message_record.ts";
import {
  findSession,
  form,
  openPage,
  page,
  seeOther,
  type SignedInVisit,
} from "./console_route.ts";
import {
  answerMailPage,
  answerThreadPage,
  contextOf,
  LIST_QUERY,
  readInboxes,
} from "./mail_pages.ts";
import type { WholeJson } from "./shown_mail.ts";
import { answerSignIn } from "./sign_in_routes.ts";

/** Larger HTML is not laid out: its text and its source are there. */
const HTML_BYTES = 2 * 1024 * 1024;

const mailbox = openPage(
  {
    path: "/mail",
    id: "openMailbox",
    summary: "The mailbox",
    says: "Leads to the first inbox of a session; without one, the ways to sign in.",
  },
  async (visit) => {
    const session = await findSession(visit);
    return session === null ? await answerSignIn(visit) : seeOther("/mail/inboxes");
  },
);

const firstInbox = page(
  {
    path: "/mail/inboxes",
    id: "openFirstInbox",
    summary: "The first inbox",
    says: "Leads to the first inbox, or says how to make one.",
  },
  async (visit) => {
    const [first] = await readInboxes(visit);
    return seeOther(first === undefined ? "/mail/org#inboxes" : `/mail/inboxes/${first.id}`);
  },
);

const inbox = page(
  {
    path: "/mail/inboxes/{id}",
    id: "openInbox",
    summary: "An inbox",
    says: "Its threads, or its messages with a code, or those it sent; the newest first.",
    query: LIST_QUERY,
  },
  (visit) => answerMailPage(visit, visit.params["id"]!, contextOf(visit.query), null),
);

const thread = page(
  {
    path: "/mail/threads/{id}",
    id: "openThread",
    summary: "A thread",
    says: "Its messages, the newest open, beside the list that led to it. Looking marks nothing.",
    query: [...LIST_QUERY, "m", "headers", "older"],
  },
  answerThreadPage,
);

const search = page(
  {
    path: "/mail/search",
    id: "searchMailbox",
    summary: "Search",
    says: "What has all the words, as GET /v1/mail/search finds it.",
    query: ["inbox", ...LIST_QUERY],
  },
  async (visit) => {
    const context = contextOf({ ...visit.query, q: visit.query["q"] ?? "" });
    const inboxId = visit.query["inbox"] || (await readInboxes(visit))[0]?.id;
    if (inboxId === undefined) return seeOther("/mail/inboxes");
    return await answerMailPage(visit, inboxId, context, null);
  },
);

const markThread = form(
  {
    path: "/mail/threads/{id}",
    id: "markMailboxThread",
    summary: "Mark a thread",
    says: "Marks it as read or unread.",
  },
  ["do", "back"],
  async ({ api, params }, { do: what, back }) => {
    if (what !== "read" && what !== "unread") throw invalidJson("do must be read or unread");
    await api.send("PATCH", ["threads", params["id"]!], { read: what === "read" });
    return seeOther(ownPath(back));
  },
);

const changeMessage = form(
  {
    path: "/mail/messages/{id}",
    id: "changeMailboxMessage",
    summary: "Do something about a message",
    says: "Marks or labels it, deletes it, or cancels one that is scheduled.",
  },
  ["do", "label", "back"],
  async ({ api, params }, { do: what, label = "", back }) => {
    const path = ["messages", params["id"]!] as const;
    const wanted = label.trim().toLowerCase();
    if (what === "delete") await api.send("DELETE", path);
    else if (what === "cancel") await api.send("POST", [...path, "cancel"], {});
    else if (what === "label") await api.send("PATCH", path, { add_labels: [wanted] });
    else if (what === "unlabel") await api.send("PATCH", path, { remove_labels: [wanted] });
    else throw invalidJson("do must be label, unlabel, delete or cancel");
    return seeOther(ownPath(back));
  },
);

/** Where a form leads back to: a page of the mailbox, whatever the form says. */
export function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/mail(?:[/?][A-Za-z0-9/?=&%._~+-]*)?$/.test(path)
    ? path
    : "/mail";
}

const messagePage = page(
  {
    path: "/mail/messages/{id}",
    id: "openMessage",
    summary: "A message",
    says: "Leads to its place in its thread.",
  },
  async ({ api, params }) => {
    const { id, thread_id } = await api.get<WholeJson>(["messages", params["id"]!]);
    return seeOther(`/mail/threads/${thread_id}?m=${id}#${id}`);
  },
);

const SAFE = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

const source = page(
  {
    path: "/mail/messages/{id}/source",
    id: "readMessageSource",
    summary: "A message as it came",
    says: "Its bytes, as text.",
    types: ["text/plain"],
  },
  async ({ api, params }) => {
    const { body } = await api.answer("GET", ["messages", params["id"]!, "raw"]);
    return new Response(body, {
      headers: { ...SAFE, "Content-Type": "text/plain; charset=utf-8" },
    });
  },
);

const wholeText = page(
  {
    path: "/mail/messages/{id}/text",
    id: "readMessageText",
    summary: "The whole text of a message",
    says: "Its text, where the page of the thread has the beginning alone.",
    types: ["text/plain"],
  },
  async ({ c, api, params, mail: { answers } }) => {
    const { text, extracted_text } = await api.get<WholeJson>(["messages", params["id"]!]);
    const bytes = new TextEncoder().encode(text ?? extracted_text ?? "");
    if (bytes.length > LARGE_ANSWER_BYTES) {
      c.set("reservation", answers.reserve(bytes.length, "agent"));
    }
    return new Response(bytes, {
      headers: { ...SAFE, "Content-Type": "text/plain; charset=utf-8" },
    });
  },
);

/** What of the API's answer goes on: none of what opens it to other origins. */
const KEPT = ["content-type", "content-disposition", "content-length"];

const attachment = page(
  {
    path: "/mail/messages/{id}/attachments/{attachment_id}",
    id: "readMessageAttachment",
    summary: "An attachment",
    says: "Its bytes, to be saved: under headers by which no browser runs them.",
    types: ["*/*"],
  },
  async ({ api, params }) => {
    const { id, attachment_id } = params;
    const { body, headers } = await api.answer("GET", [
      "messages",
      id!,
      "attachments",
      attachment_id!,
    ]);
    const kept = KEPT.flatMap((name) => headers.has(name) ? [[name, headers.get(name)!]] : []);
    return new Response(body, { headers: { ...Object.fromEntries(kept), ...SAFE } });
  },
);

const htmlFrame = page(
  {
    path: "/mail/messages/{id}/html",
    id: "readMessageHtml",
    summary: "The HTML of a message, in its frame",
    says:
      "Reduced to what shows and runs nothing, with its own pictures in it; what it would have " +
      "loaded from elsewhere is listed at its end.",
  },
  answerMessageHtml,
);

async function answerMessageHtml(visit: SignedInVisit): Promise<Response> {
  const { c, api, params, mail, session: { caller } } = visit;
  const { messages, reader, limits, answers } = mail;
  const id = params["id"]!;
  const row = await messages.find(caller, id);
  if (row.blob.sections[REST]!.sizeBytes > HTML_BYTES) {
    return answerHtml(new TextEncoder().encode(
      "<p>This mail is too large to be laid out. Its text and its source are on its page.",
    ));
  }
  const { html, attachments } = await api.get<WholeJson>(["messages", id]);
  const files = attachments.map(({ content_type, content_id, size, sha256 }) => ({
    contentType: content_type,
    contentId: content_id,
    sizeBytes: size,
    sha256,
  }));
  // In a worker, as everything that strangers wrote is read.
  const { html: reduced, remote } = await reader.reduce(html ?? "", ownPictures(files), row.orgId);
  const named = shownPictures(reduced, files);
  const pictures = named.length === 0 ? [] : await readPictures();
  const shown = writeShownHtml(reduced + remoteList(remote), pictures);
  if (shown.length > LARGE_ANSWER_BYTES) {
    c.set("reservation", answers.reserve(shown.length, "agent"));
  }
  return answerHtml(shown);

  async function readPictures() {
    const answer = await api.answer("GET", ["messages", id, "raw"]);
    const raw = new Uint8Array(await answer.arrayBuffer());
    const read = await reader.readAttachments(raw, named.map(({ sha256 }) => sha256), {
      parts: limits.mailParts,
      depth: limits.mailDepth,
    }, row.orgId);
    return named.flatMap((one, i) =>
      read[i] === null || read[i] === undefined ? [] : [{ ...one, content: read[i].bytes }]
    );
  }
}

/** What was not loaded, below the mail. */
function remoteList(remote: readonly string[]): string {
  if (remote.length === 0) return "";
  const list = remote.map((url) => `<li>${escapeHtml(url.slice(0, 300))}</li>`).join("");
  return `<hr><div dir="ltr" style="font: 13px sans-serif; color: #555; background-color: #fff">` +
    `Not loaded from elsewhere:<ul>${list}</ul></div>`;
}

const stream = page(
  {
    path: "/mail/stream",
    id: "streamMailbox",
    summary: "What comes to an inbox",
    says:
      "Server-sent events, as of GET /v1/mail/inboxes/{id}/messages; they end with the session.",
    query: ["inbox"],
    types: ["text/event-stream"],
  },
  async ({ c, api, query }) => {
    const lastEventId = c.req.raw.headers.get("last-event-id");
    const { body, headers } = await api.answer(
      "GET",
      ["inboxes", query["inbox"] ?? "", "messages"],
      {
        query: { order: "asc" },
        headers: {
          Accept: "text/event-stream",
          ...(lastEventId === null ? {} : { "Last-Event-ID": lastEventId }),
        },
      },
    );
    return new Response(body, {
      headers: {
        "Cache-Control": "no-store",
        "Content-Type": headers.get("content-type")!,
        "X-Content-Type-Options": "nosniff",
      },
    });
  },
);

export const MAIL_ROUTES = [
  mailbox,
  firstInbox,
  inbox,
  thread,
  search,
  markThread,
  changeMessage,
  messagePage,
  source,
  wholeText,
  attachment,
  htmlFrame,
  stream,
];
