/** The mailbox itself: places, list, and what is read. */
import { html } from "hono/html";
import type { Html } from "../../base/pages/elements.ts";
import { visibleText } from "../../base/pages/visible_text.ts";
import { RelayError } from "../../base/errors.ts";
import { shownMessage } from "../../mail/mailbox/shown/shown_message.ts";
import { emptyRows, mailColumns } from "../mailbox/mailbox_frame.ts";
import { mailRows, placeLinks } from "../mailbox/mail_list.ts";
import type { MailLine, PlaceGroup } from "../mailbox/view_model.ts";
import { answerConsole } from "./console_page.ts";
import type { SignedInVisit } from "./console_route.ts";
import { type MessageJson, messageLine, type ThreadJson, threadLine } from "./mail_lines.ts";

export interface InboxJson {
  id: string;
  address: string;
  display_name?: string | null;
  send_policy: "direct" | "draft_only";
  allow_send?: string[];
  allow_receive?: string[];
  block_receive?: string[];
  retention_days: number | null;
  unread_count: number;
}

interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

interface FoundJson {
  message: MessageJson;
  highlights: { subject: string[]; text: string[] };
}

const ROWS = 50;

const VIEWS = { unread: "Unread", codes: "With a code", sent: "Sent" } as const;
type View = keyof typeof VIEWS;

/** What the list shows: the query that all pages with this list have. */
export interface ListContext {
  view: View | null;
  q: string | null;
  label: string | null;
  cursor: string | null;
}

/** Names of the query of a page with a list. */
export const LIST_QUERY = ["view", "q", "label", "cursor"] as const;

export function contextOf(query: SignedInVisit["query"]): ListContext {
  const { view, q, label, cursor } = query;
  const isView = view !== undefined && Object.hasOwn(VIEWS, view);
  return {
    view: isView ? view as View : null,
    q: q ?? null,
    label: label || null,
    cursor: cursor || null,
  };
}

/** A path with a list's query, and more. */
export function hrefOf(
  path: string,
  context: Partial<ListContext>,
  more: Readonly<Record<string, string>> = {},
): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...context, ...more })) {
    if (value !== null && value !== undefined) asked.set(name, value);
  }
  return asked.size === 0 ? path : `${path}?${asked}`;
}

export async function readInboxes({ api }: Pick<SignedInVisit, "api">): Promise<InboxJson[]> {
  return (await api.get<Page<InboxJson>>(["inboxes"], { limit: 100 })).data;
}

interface ReadList {
  lines: MailLine[];
  next: string | null;
  /** Whether what was sought was not sought everywhere yet. */
  isPartial: boolean;
}

/** @param chosen id of the thread or message that the pane shows */
async function readList(
  visit: SignedInVisit,
  inbox: InboxJson,
  context: ListContext,
  chosen: { threadId: string; messageId: string | null } | null,
): Promise<ReadList> {
  const { api } = visit;
  const { view, q, label, cursor } = context;
  const hrefOfMessage = ({ id, thread_id }: MessageJson) =>
    `${hrefOf(`/mail/threads/${thread_id}`, context, { m: id })}#${id}`;
  const isChosen = ({ id, thread_id }: MessageJson) =>
    chosen !== null && chosen.threadId === thread_id &&
    (chosen.messageId === null || chosen.messageId === id);
  if (q !== null) {
    const { data, next_cursor, partial } = await api.get<Page<FoundJson> & { partial?: true }>(
      ["search"],
      { q, cursor, limit: ROWS },
    );
    const lines = data.map(({ message, highlights }) => ({
      ...messageLine(message, hrefOfMessage(message), isChosen(message)),
      found: marked([...highlights.subject, ...highlights.text], q),
    }));
    return { lines, next: next_cursor, isPartial: partial === true };
  }
  if (view === "codes" || view === "sent") {
    const filter = view === "codes" ? { has_code: "true" } : { direction: "outbound" };
    const { data, next_cursor } = await api.get<Page<MessageJson>>(
      ["inboxes", inbox.id, "messages"],
      { ...filter, cursor, limit: ROWS },
    );
    const lines = data.map((one) => messageLine(one, hrefOfMessage(one), isChosen(one)));
    return { lines, next: next_cursor, isPartial: false };
  }
  const { data, next_cursor } = await api.get<Page<ThreadJson>>(
    ["inboxes", inbox.id, "threads"],
    { unread: view === "unread" ? "true" : null, label, cursor, limit: ROWS },
  );
  const last = await readLast(visit, inbox.id, data);
  const lines = data.map((thread) =>
    threadLine(
      thread,
      last.get(thread.last_message_id) ?? null,
      inbox.address,
      hrefOf(`/mail/threads/${thread.id}`, context),
      chosen?.threadId === thread.id,
    )
  );
  return { lines, next: next_cursor, isPartial: false };
}

/** The newest messages of threads that the session's key was just given. */
async function readLast(
  { mail: { messages, inFlight }, session: { caller } }: SignedInVisit,
  inboxId: string,
  threads: readonly ThreadJson[],
): Promise<Map<string, MessageJson>> {
  const ids = threads.map(({ last_message_id }) => last_message_id);
  const found = await messages.readAll(caller.org.id, inboxId, ids);
  const { rows, now } = await inFlight.of(found);
  return new Map(rows.map((row) => [row.id, shownMessage(row, now) as unknown as MessageJson]));
}

/** Fragments with the words that were sought marked in them. */
function marked(fragments: readonly string[], q: string): Html | undefined {
  if (fragments.length === 0) return undefined;
  const words = [...new Set(q.replaceAll('"', " ").split(/\s+/).filter((word) => word !== ""))]
    .slice(0, 20).map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const text = fragments.join(" ... ").replaceAll(/\s+/g, " ");
  if (words.length === 0) return html`<bdi>${visibleText(text)}</bdi>`;
  const parts = text.split(new RegExp(`(${words.join("|")})`, "giu"));
  return html`<bdi>${
    parts.map((part, i) =>
      i % 2 === 1 ? html`<mark>${visibleText(part)}</mark>` : visibleText(part)
    )
  }</bdi>`;
}

function placesOf(
  inboxes: readonly InboxJson[],
  at: InboxJson,
  context: ListContext,
): PlaceGroup[] {
  const isAll = context.view === null && context.q === null && context.label === null;
  const views = (Object.keys(VIEWS) as View[]).map((view) => ({
    href: hrefOf(`/mail/inboxes/${at.id}`, { view }),
    label: VIEWS[view],
    isChosen: context.view === view && context.q === null,
    count: view === "unread" ? at.unread_count : 0,
  }));
  // What was sought was sought in all of them.
  const places = inboxes.map((one) => ({
    href: `/mail/inboxes/${one.id}`,
    label: one.address.slice(0, one.address.lastIndexOf("@")),
    isChosen: isAll && one.id === at.id,
    count: one.unread_count,
  }));
  return [{ label: "Inboxes", places }, { label: "Views", places: views }];
}

function headingOf(inbox: InboxJson, { view, q, label }: ListContext): string {
  if (q !== null) return `Search: ${q}`;
  if (label !== null) return `${inbox.address}: ${label}`;
  return view === null ? inbox.address : `${inbox.address}: ${VIEWS[view].toLowerCase()}`;
}

function emptyOf(inbox: InboxJson, { view, q }: ListContext): Html | string {
  if (q !== null) return html`Nothing has all these words: <b>${visibleText(q)}</b>.`;
  if (view === "sent") return "Nothing was sent from here yet.";
  if (view === "codes") return "No mail with a code.";
  if (view === "unread") return "All is read.";
  return html`No mail yet. What is sent to <code class="whole">${inbox.address}</code> appears here by itself.`;
}

/** The mailbox page. @param read what the pane shows; null for the list alone */
export async function answerMailPage(
  visit: SignedInVisit,
  inboxId: string,
  context: ListContext,
  read: { pane: Html; title: string; threadId: string; messageId: string | null } | null,
): Promise<Response> {
  const inboxes = await readInboxes(visit);
  const inbox = inboxes.find(({ id, address }) => id === inboxId || address === inboxId);
  if (inbox === undefined) {
    throw new RelayError("not_found", "the org has no such inbox, or the session is for another");
  }
  const { lines, next, isPartial } = await readList(visit, inbox, context, read);
  const rows = lines.length === 0
    ? emptyRows(emptyOf(inbox, context))
    : mailRows(lines, visit.nowMs);
  const path = context.q === null ? `/mail/inboxes/${inbox.id}` : "/mail/search";
  const within: Record<string, string> = context.q === null ? {} : { inbox: inbox.id };
  const more = next === null
    ? ""
    : html`<a href="${hrefOf(path, { ...context, cursor: next }, within)}">${
      isPartial ? "Search on" : "Older"
    }</a>`;
  const isFirst = context.cursor === null;
  return await answerConsole(visit, {
    title: read?.title ?? headingOf(inbox, context),
    section: "Mail",
    unread: inbox.unread_count,
    q: context.q ?? "",
    within: { inbox: inbox.id },
    // Older pages stay as they are; what comes is told where it would stand.
    streamHref: isFirst && context.q === null ? `/mail/stream?inbox=${inbox.id}` : undefined,
    body: mailColumns({
      places: placeLinks(placesOf(inboxes, inbox, context), "Mailboxes"),
      heading: html`<bdi>${headingOf(inbox, context)}</bdi>`,
      tools: html`<a class="button" href="/mail/write?inbox=${inbox.id}">Write</a>`,
      rows,
      more,
      pane: read?.pane ?? null,
    }),
  });
}
