/** What the checking worker and its host say to each other. */
import type { MailAuth } from "../../records/message_record.ts";
import type { DnsAnswer, RecordType } from "../../../../toolkit/mail/dns_message.ts";

/** The client that handed a mail in, as the gateway or the SMTP session says; it chose these words. */
export interface MailClient {
  /** IPv4 or IPv6; null where it is not known, and then SPF says none. */
  clientIp: string | null;
  helo: string | null;
  /** Envelope sender; empty for a bounce. */
  envelopeFrom: string;
}

/** What a check of a mail finds. */
export interface SenderCheck {
  auth: MailAuth;
  /**
   * Whether answers would go by a Reply-To that nobody signed to another organization than From's, while
   * only signatures speak for From: a server that passed the mail on may have added it.
   */
  isReplyToUnsigned: boolean;
}

export interface MailToCheck {
  raw: Uint8Array;
  client: MailClient;
  /** Unix milliseconds that signatures expire by. */
  nowMs: number;
  trustedSealers: readonly string[];
}

/** What the worker says of a mail. */
export type AuthWord =
  /** Work on a mail has begun; the domain of its From is known by now. */
  | { kind: "begun"; fromDomain: string | null }
  /** Its bytes are not needed any more. */
  | { kind: "hashed" }
  | { kind: "lookup"; question: number; name: string; type: RecordType };

/** Other messages to the worker. */
export interface DnsWord {
  question: number;
  answer: DnsAnswer;
}

/**
 * For a mail that was not checked to the end.
 * @param fromDomain undefined where it is not known whether there is one
 */
export function brokenCheck({ clientIp }: MailClient, fromDomain?: string | null): SenderCheck {
  const spf = clientIp === null ? "none" : "temperror";
  const auth: MailAuth = fromDomain === null
    ? { spf, dkim: "temperror", dmarc: "permerror", fromDomain, verdict: "fail" }
    : {
      spf,
      dkim: "temperror",
      dmarc: "temperror",
      fromDomain: fromDomain ?? null,
      verdict: "error",
    };
  return { auth, isReplyToUnsigned: false };
}
