/** How a mail is handed to the next hop, and with what outcome. */
import type { NextHopUse } from "./next_hop_uses.ts";
import type { SmtpReply } from "./smtp_reply.ts";

/** One mail to one recipient: an unknown outcome then concerns one address only. */
export interface OutgoingMail {
  /** Envelope sender. */
  from: string;
  /** Envelope recipient. */
  to: string;
  /** The message (RFC 5322), as it is sent. */
  content: Uint8Array;
  /** Its share of the connections; "notice" unless given. */
  use?: NextHopUse;
  /** Greatest wait after the final dot where it is shorter than the mailer's own, in ms. */
  finalReplyMs?: number;
}

export interface Handover {
  /**
   * Awaited between the next hop's 354 and the first byte of the content. If it throws, nothing of
   * the content is sent and send() rejects with the same error.
   */
  beforeContent(): Promise<void>;
  /** Aborts the transaction. */
  signal: AbortSignal;
}

/**
 * The stage at which a next hop refused. "connection" covers TCP, TLS, greeting, EHLO and login:
 * the mail did not cause it.
 */
export type RefusalStage = "connection" | "sender" | "recipient" | "content";

export type MailOutcome =
  | { result: "sent"; reason: string; reply: SmtpReply | null }
  /** The next hop certainly does not have the mail. */
  | {
    result: "refused";
    stage: RefusalStage;
    /** True for a 5xx reply. */
    permanent: boolean;
    /** Reply or error code and the command, such as "550 at RCPT TO". */
    reason: string;
    /** What it said; null where it said nothing, as when the connection broke. */
    reply: SmtpReply | null;
    /** Whether it was connected and logged in to: what failed then, the mail may have caused. */
    isReached: boolean;
  }
  /** The content was sent whole and no reply came: whether the next hop has it is unknown. */
  | { result: "unknown"; reason: string };

/** Whether the next hop itself said that it takes the mail later, or nothing now (a 4xx reply). */
export function isDeferral(outcome: MailOutcome): boolean {
  return outcome.result === "refused" && outcome.reply !== null && outcome.reply.code < 500;
}

export interface Mailer {
  /** One SMTP transaction. @throws what beforeContent throws */
  send(mail: OutgoingMail, handover: Handover): Promise<MailOutcome>;
  /** Drops the connections that are being closed. */
  close(): Promise<void>;
}
