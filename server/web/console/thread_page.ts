/** The page of a thread: its messages, and what can be done about them. */
import type { z } from "@hono/zod-openapi";
import { html } from "hono/html";
import type { Html } from "../../base/pages/elements.ts";
import type { ThreadDetail } from "../../mail/mailbox/shown/schemas.ts";
import { readingPane } from "../mailbox/reading_pane.ts";
import { confirmedButton, formButton, formFields } from "./console_page.ts";
import type { SignedInVisit } from "./console_route.ts";
import type { MessageJson } from "./mail_lines.ts";
import { answerMailPage, contextOf, hrefOf, type ListContext } from "./mail_pages.ts";
import { shownMail, type WholeJson } from "./shown_mail.ts";

type ThreadDetailJson = z.infer<typeof ThreadDetail>;

/** Messages of a thread that one page shows. */
const MESSAGES = 20;
/** A larger message is shown by its text alone: its HTML has a page of its own. */
const READ_WHOLE_BYTES = 1024 * 1024;

/** The page of a thread, with the list that led to it. */
export async function answerThreadPage(visit: SignedInVisit): Promise<Response> {
  const { api, params, query, nowMs } = visit;
  const context = contextOf(query);
  const thread = await api.get<ThreadDetailJson>(["threads", params["id"]!], {
    order: "desc",
    limit: MESSAGES,
    cursor: query["older"] || null,
  });
  const messages = thread.messages.toReversed();
  const wanted = query["m"] ?? null;
  const newest = messages.at(-1)?.id ?? null;
  const opened = new Set([newest, wanted]);
  const shown = await Promise.all(messages.map(async (message) => {
    const isOpen = opened.has(message.id);
    const isRead = isOpen && message.size <= READ_WHOLE_BYTES;
    const whole = isRead ? await api.get<WholeJson>(["messages", message.id]) : null;
    return shownMail(message, {
      isOpen,
      whole,
      wantsHeaders: query["headers"] === "yes" && message.id === (wanted ?? newest),
      actions: isOpen
        ? messageActions(
          visit,
          message,
          context,
          message.id === newest ? threadMark(visit, thread, context) : null,
        )
        : html`<p><a href="${
          hrefOf(`/mail/threads/${thread.id}`, context, { m: message.id })
        }#${message.id}">Open this mail</a></p>`,
    });
  }));
  const back = listHref(thread.inbox_id, context);
  const older = thread.next_cursor === null
    ? ""
    : html`<p><a href="${
      hrefOf(`/mail/threads/${thread.id}`, context, { older: thread.next_cursor })
    }">Older mail of this thread</a></p>`;
  return await answerMailPage(visit, thread.inbox_id, context, {
    title: thread.subject ?? "no subject",
    threadId: thread.id,
    messageId: wanted,
    pane: readingPane({
      subject: thread.subject,
      messages: shown,
      nowMs,
      backHref: back,
      before: older,
    }),
  });
}

/** Where the list is that led to a thread. */
function listHref(inboxId: string, context: ListContext): string {
  return context.q === null
    ? hrefOf(`/mail/inboxes/${inboxId}`, context)
    : hrefOf("/mail/search", context, { inbox: inboxId });
}

/** Marks a thread read or unread. The script sends the first one by itself: who opens a mail reads it. */
function threadMark(visit: SignedInVisit, thread: ThreadDetailJson, context: ListContext): Html {
  const isUnread = thread.unread_count > 0;
  const action = `/mail/threads/${thread.id}`;
  const fields = formFields(visit, action, {
    do: isUnread ? "read" : "unread",
    // Here it would be read again at once.
    back: isUnread ? hrefOf(action, context) : listHref(thread.inbox_id, context),
  });
  // deno-fmt-ignore
  return html`<form id="mark" data-live method="post" action="${action}"${
    isUnread ? html` data-on-open` : ""
  }>${fields}<button data-key="e">${isUnread ? "Mark read" : "Mark unread"} <kbd>e</kbd></button></form>`;
}

/** What one can do about a message. @param mark of the thread, for its newest message, which `r` answers; null for others */
function messageActions(
  visit: SignedInVisit,
  message: MessageJson,
  context: ListContext,
  mark: Html | null,
): Html {
  const isNewest = mark !== null;
  const { id, thread_id, labels, status, inbox_id } = message;
  const action = `/mail/messages/${id}`;
  const back = hrefOf(`/mail/threads/${thread_id}`, context, { m: id });
  const button = (label: string, fields: Record<string, string>, kind: "" | "danger" = "") =>
    formButton(visit, action, label, { ...fields, back }, { kind });
  const key = isNewest
    ? html`
      data-key="r"
    `
    : "";
  // deno-fmt-ignore
  return html`<div class="actions"><a class="button${isNewest ? " primary" : ""}" href="/mail/write?reply=${id}"${key}>Reply${isNewest ? html` <kbd>r</kbd>` : ""}</a>
<a class="button" href="/mail/write?forward=${id}">Forward</a>
${mark ?? ""}
${status === "scheduled" ? button("Do not send it", { do: "cancel" }) : ""}
<details><summary class="button">Labels</summary><form method="post" action="${action}" class="card">${
    formFields(visit, action, { do: "label", back })
  }<label for="label-${id}">Label</label><input id="label-${id}" name="label" required maxlength="32" pattern="[a-z0-9_\\-]{1,32}" autocomplete="off"><span class="hint">Small letters, digits, _ and -.</span> <button>Add</button></form>${
    labels.map((label) => html`<p><a href="${hrefOf(`/mail/inboxes/${inbox_id}`, { label })}">${label}</a> ${button(`Take ${label} off`, { do: "unlabel", label })}</p>`)
  }</details>
${confirmedButton("Delete", "It goes for good, with its attachments.", formButton(visit, action, "Delete this mail for good", { do: "delete", back: `/mail/inboxes/${inbox_id}` }, { kind: "danger" }))}</div>`;
}
