/** What the checking worker and its host say to each other. */
import type { MailAuth } from "../../records/message_record.ts";
import type { DnsAnswer, RecordType } from "../../../../toolkit/mail/dns_message.ts";

/** Who handed a mail in, as the gateway or the SMTP session says; the client chose these words. */
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
  /** By which signatures expire. */
  nowMs: number;
  trustedSealers: readonly string[];
}

/** What the worker says of a mail. */
export type AuthWord =
  /** It works on it from now on; the domain of its From is known at once. */
  | { kind: "begun"; fromDomain: string | null }
  /** Its bytes are not needed any more. */
  | { kind: "hashed" }
  | { kind: "lookup"; question: number; name: string; type: RecordType };

/** What it is told besides. */
export interface DnsWord {
  question: number;
  answer: DnsAnswer;
}

/**
 * Of a mail that was not checked to the end.
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
