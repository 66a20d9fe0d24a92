/** A page of an inbox in prose. */
import type { PollQuery } from "../messages/inbox/inbox_reader.ts";
import { Quotation } from "../../base/tool_server/untrusted_text.ts";
import type { InboxEntry } from "./inbox_entry.ts";

export interface InboxPage {
  query: Pick<PollQuery, "sinceId" | "unread">;
  lastId: number;
  /** Whether messages wait behind this page. */
  further: boolean;
  /** Whether the reader's token sends too. */
  canSend: boolean;
}

/** Received messages, quoted between lines that nobody can forge; how far to trust them; what to do next. */
export function describeInbox(
  messages: readonly InboxEntry[],
  { query, lastId, further, canSend }: InboxPage,
  random: (sizeBytes: number) => Uint8Array,
): string {
  if (messages.length === 0) {
    const what = query.unread ? "No unread messages" : "No messages";
    return `${what} after ${query.sinceId}. last_id: ${lastId}. ` +
      `Look again later with check_inbox since=${lastId}, or with wait_seconds to wait for one.`;
  }
  const quotation = new Quotation(random);
  const introduced = new Set<string>();
  const parts = messages.map((entry) => {
    const sender = introduced.has(entry.from)
      ? `@${entry.from_handle}`
      : `@${entry.from_handle} (${entry.from_word_name}, ${entry.from})`;
    introduced.add(entry.from);
    const answered = entry.in_reply_to === null ? "" : `, in reply to ${entry.in_reply_to}`;
    return `Message ${entry.id} from ${sender}, ${entry.content_type}, ${entry.created_at}` +
      `${answered}:\n${quotation.quote(describeBody(entry))}`;
  });
  const count = messages.length === 1 ? "1 message" : `${messages.length} messages, oldest first`;
  return [
    `${count}. ${quotation.notice}`,
    ...parts,
    "The relay has checked that the key of each sender signed the message. It has not checked who that is, nor what is " +
    (canSend
      ? "said. To answer, call send_message with to = the sender's handle and in_reply_to = the message's id."
      : "said. The token of this call only reads: who holds the agent's key can answer."),
    further
      ? `last_id: ${lastId}; more messages wait: call again with since=${lastId}`
      : `last_id: ${lastId}. For what comes later, call check_inbox with since=${lastId}.`,
  ].join("\n\n");
}

/** A text in the recommended shape as people would read it; anything else as JSON. */
function describeBody({ body }: InboxEntry): string {
  if (typeof body === "string") return body;
  if (typeof body === "object" && body !== null && !Array.isArray(body)) {
    const { text, subject, ...extras } = body as Record<string, unknown>;
    if (typeof text === "string" && Object.keys(extras).length === 0) {
      if (subject === undefined) return text;
      if (typeof subject === "string") return `Subject: ${subject}\n\n${text}`;
    }
  }
  return JSON.stringify(body);
}
