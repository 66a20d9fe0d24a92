/** Routes of the mailbox: lists, threads, what is done about them, and what comes. */
import { invalidJson } from "../../base/errors.ts";
import { findSession, form, openPage, page, seeOther } from "./console_route.ts";
import { answerMailPage, contextOf, LIST_QUERY, readInboxes } from "./mail_pages.ts";
import type { WholeJson } from "./shown_mail.ts";
import { answerThreadPage } from "./thread_page.ts";
import { answerSignIn } from "./sign_in_routes.ts";

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
    says: "Marks all its messages as read or unread.",
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
    const type = "text/event-stream; charset=utf-8";
    const own = {
      "Cache-Control": "no-store",
      "Content-Type": type,
      "X-Content-Type-Options": "nosniff",
    };
    // The stream of a HEAD would be read to its end.
    if (c.get("head")) return new Response(null, { headers: own });
    const lastEventId = c.req.raw.headers.get("last-event-id");
    const { body } = await api.answer(
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
    return new Response(body, { headers: own });
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
  stream,
];
