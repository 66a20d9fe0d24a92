/** Messages as the store holds them (docs/mail.md); what they say at length lies in a blob. */
import type { BlobRef } from "../../base/blobs/blobs.ts";
import type { MailAddress, ParsedFacts } from "../reading/parsed/parsed_mail.ts";
import type { StoredAnswer } from "./stored_answer.ts";
import { defineRow } from "../../base/storage/rows/row_key.ts";

export type AuthResult =
  | "pass"
  | "fail"
  | "softfail"
  | "neutral"
  | "none"
  | "temperror"
  | "permerror";
export type AuthVerdict = "pass" | "fail" | "error" | "none";

/** What SPF, DKIM and DMARC said when the message came (docs/mail.md, "Who sent it"). */
export interface MailAuth {
  spf: AuthResult;
  dkim: AuthResult;
  dmarc: AuthResult;
  /** Of the chain of seals (RFC 8617); absent where there is none. */
  arc?: "pass" | "fail";
  /** Domain of the one From, lowercased; null without one. */
  fromDomain: string | null;
  verdict: AuthVerdict;
}

export type RecipientStatus =
  | "queued"
  | "sending"
  | "deferred"
  | "sent"
  | "delivered"
  | "bounced"
  | "complained"
  | "failed";

export type FailureReason =
  | "refused"
  | "expired"
  | "unknown"
  | "sender_refused"
  | "suppressed"
  | "next_hop_refused";

/** How it stands with one address of an outbound message (docs/mail.md, "What became of it"). */
export interface Recipient {
  /** Lowercased. */
  address: string;
  status: RecipientStatus;
  smtpCode: number | null;
  /** As in "5.1.1". */
  enhancedCode: string | null;
  reason: FailureReason | null;
  /** At most 200 characters of what the other side said. */
  detail: string | null;
  attempts: number;
  nextAttemptAtMs: number | null;
  /** Of the last change. */
  atMs: number;
}

/** A row of an inbox. It changes in commits of its mailbox alone, see mailboxes/. */
export interface MessageRow extends ParsedFacts {
  v: 1;
  /** `msg_` and a ULID, which ascends in each inbox in the order of commits. */
  id: string;
  orgId: string;
  inboxId: string;
  threadId: string;
  direction: "inbound" | "outbound";
  /** Of SMTP or the gateway, inbound only; `to`: this inbox's spellings. */
  envelope: { from: string; to: readonly string[] } | null;
  /** Inbound only. */
  auth: MailAuth | null;
  /** Outbound only. */
  bcc: readonly MailAddress[];
  /** Outbound: each address once, in the order of to, cc, bcc; empty for inbound messages. */
  recipients: readonly Recipient[];
  /** When a scheduled message goes out; null for all others. */
  sendAtMs: number | null;
  /** Cancelled before it went out. */
  cancelledAtMs: number | null;
  labels: readonly string[];
  read: boolean;
  /** The key that wrote all of what was sent; absent where it is not one key's, or not known. */
  writtenByKey?: string;
  /** The draft that it was, whose events go with it; absent where it was none. */
  draftId?: string;
  /**
   * How far an outbound message has left: "begun" once the next hop took it for anybody, "over" once
   * nobody waits for a first attempt besides, when `message.sent` is raised. Absent before.
   */
  departure?: "begun" | "over";
  createdAtMs: number;
  /** Sections: RAW, HEAD, REST, and SHOWN where HEAD has but a part of it. */
  blob: BlobRef;
  /** Hash under which a repetition of an inbound message is known. */
  repeatKey: string | null;
  /** Answers under Idempotency-Keys that showed it; absent where none did. */
  answers?: readonly StoredAnswer[];
}

/** Sections of a message's blob. */
export const RAW = 0;
/** JSON of MessageHead: what a page of a thread shows. */
export const HEAD = 1;
/** JSON of ParsedTexts. */
export const REST = 2;
/** JSON of the text that mail programs show, where that is not the text of REST. */
export const SHOWN = 3;

/** Texts as a page of a thread shows them. */
interface MessageHead {
  text: string | null;
  extractedText: string | null;
  /** Whether either is cut here. */
  truncated: boolean;
}

export const messageKey = defineRow<[orgId: string, inboxId: string, messageId: string]>(
  ["mail-message"],
  3,
  {
    holds: "a message without its texts, which lie in a blob with the raw bytes",
    expires: "by retention_days",
  },
);

export const objectKey = defineRow<[orgId: string, id: string]>(["mail-object"], 2, {
  holds: "the inbox of a message, thread or draft",
});

/** What the messages of an inbox are found by. */
export type MessageIndex =
  | readonly ["direction", MessageRow["direction"]]
  | readonly ["unread"]
  | readonly ["code"]
  | readonly ["label", string]
  | readonly ["thread", string]
  | readonly ["thread-label", threadId: string, label: string];

const indexRowKey = defineRow<
  [orgId: string, inboxId: string, ...what: string[], messageId: string]
>(["mail-index"], Infinity, {
  holds: "an empty row for each thing that a message is found by: direction, unread, code, " +
    "label, thread, label in a thread",
});

export const indexKey = (
  orgId: string,
  inboxId: string,
  index: MessageIndex,
  messageId: string,
): Deno.KvKey => indexRowKey(orgId, inboxId, ...index, messageId);

/** What a message is found by. Pure. */
export function indexesOf(
  row: Pick<MessageRow, "direction" | "read" | "codes" | "labels" | "threadId">,
): MessageIndex[] {
  return [
    ["direction", row.direction],
    ["thread", row.threadId],
    ...(row.read ? [] : [["unread"] as const]),
    ...(row.codes.length > 0 ? [["code"] as const] : []),
    ...row.labels.flatMap((label) => [
      ["label", label] as const,
      ["thread-label", row.threadId, label] as const,
    ]),
  ];
}
