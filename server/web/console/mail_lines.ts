/** Rows of the mail area as lines of the list. Pure. */
import type { z } from "@hono/zod-openapi";
import type { MessageRow, Thread } from "../../mail/mailbox/shown/schemas.ts";
import { calledName, type Chip, type MailLine, type Tone } from "../mailbox/view_model.ts";

export type MessageJson = z.infer<typeof MessageRow>;
export type ThreadJson = z.infer<typeof Thread>;

/** Names that one line has room for. */
const NAMED = 3;
/** Labels that it has room for. */
const LABELS = 2;

const STATUS_TONES: Readonly<Record<string, Tone>> = {
  delivered: "ok",
  bounced: "bad",
  complained: "bad",
  failed: "bad",
  deferred: "warn",
};

/** How what was sent stands, in a word. */
export function statusChip(status: string): Chip {
  return { word: status, tone: STATUS_TONES[status] ?? "plain" };
}

const AUTOMATED: Readonly<Record<string, Chip>> = {
  auto_reply: { word: "automatic reply", tone: "plain" },
  bulk: { word: "automated", tone: "plain" },
  bounce: { word: "bounce report", tone: "bad" },
};

/** What a line or a message says of itself. @param isWhole whether it names the harmless too */
export function chipsOf(message: MessageJson, isWhole: boolean): Chip[] {
  const { direction, status, automated, hidden_text_removed, auth, labels } = message;
  const chips: Chip[] = [];
  if (direction === "outbound" && (isWhole || status !== "sent")) chips.push(statusChip(status));
  if (AUTOMATED[automated] !== undefined) chips.push(AUTOMATED[automated]);
  if (hidden_text_removed) chips.push({ word: "hidden text", tone: "warn" });
  if (!isWhole && auth?.verdict === "fail") {
    chips.push({ word: "sender not proven", tone: "bad" });
  }
  const named = isWhole ? labels : labels.slice(0, LABELS);
  return [...chips, ...named.map((word): Chip => ({ word, tone: "plain" }))];
}

/** Who a message is from, or to. */
export function whoOf({ direction, from, to, cc, bcc }: MessageJson): string {
  if (direction === "outbound") {
    const all = [...to, ...cc, ...bcc];
    const first = all[0];
    const rest = all.length > 1 ? ` and ${all.length - 1} more` : "";
    return first === undefined ? "To nobody" : `To ${calledName(first)}${rest}`;
  }
  return from === null ? "No sender" : calledName(from);
}

/** A message as a line. @param href where it is read */
export function messageLine(message: MessageJson, href: string, isChosen: boolean): MailLine {
  const { subject, preview, created_at, read, codes, attachments, direction } = message;
  return {
    href,
    who: whoOf(message),
    subject,
    preview,
    atMs: Date.parse(created_at),
    isUnread: !read,
    isChosen,
    count: 1,
    code: direction === "inbound" ? codes[0]?.value ?? null : null,
    hasAttachments: attachments.some(({ disposition }) => disposition === "attachment"),
    chips: chipsOf(message, false),
  };
}

/**
 * A thread as a line: what its newest message is, and who takes part.
 * @param last its newest message; null where that has gone meanwhile
 * @param own address of the inbox, which is no news
 */
export function threadLine(
  thread: ThreadJson,
  last: MessageJson | null,
  own: string,
  href: string,
  isChosen: boolean,
): MailLine {
  const others = thread.participants.filter(({ address }) => address.toLowerCase() !== own);
  const names = others.slice(0, NAMED).map(calledName);
  const isSentOnly = last?.direction === "outbound" && thread.message_count === 1;
  const who = isSentOnly && last !== null
    ? whoOf(last)
    : names.length === 0
    ? own
    : names.join(", ") + (others.length > NAMED ? ", ..." : "");
  const line = last === null ? null : messageLine(last, href, isChosen);
  return {
    code: null,
    hasAttachments: false,
    chips: [],
    ...line,
    href,
    who,
    subject: thread.subject,
    preview: thread.preview,
    atMs: Date.parse(thread.last_message_at),
    isUnread: thread.unread_count > 0,
    isChosen,
    count: thread.message_count,
  };
}
