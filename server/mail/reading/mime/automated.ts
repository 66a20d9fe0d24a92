/** Whether a person wrote a message, by its headers. Pure. */
import type { Automated } from "../parsed/parsed_mail.ts";

export interface MailOrigin {
  /** Lowercased names to decoded values. */
  headers: Readonly<Record<string, readonly string[]>>;
  /** Content-Type of the whole message, with or without its parameters. */
  contentType: string;
  /** Envelope sender, "" for the null one. */
  envelopeFrom: string;
  /** Address of From; null without one. */
  from: string | null;
}

/** Names in From that make a message from the null sender a bounce. */
const BOUNCE_SENDERS = new Set(["mailer-daemon", "postmaster"]);
/** Headers that an automatic answer carries, whatever they say. */
const AUTO_REPLY_HEADERS = ["x-autoreply", "x-autorespond", "x-auto-response-suppress"];
const BULK_HEADERS = ["list-id", "list-unsubscribe"];
const BULK_PRECEDENCES = new Set(["bulk", "list", "junk"]);

/**
 * The first that fits: `bounce` (multipart/report, or the null sender with a From of mailer-daemon or
 * postmaster), `auto_reply` (RFC 3834 and its forerunners, or the null sender), `bulk` (RFC 2919,
 * RFC 2369, Precedence), else `none`.
 */
export function classifyMail({ headers, contentType, envelopeFrom, from }: MailOrigin): Automated {
  const isNullSender = envelopeFrom === "" || envelopeFrom === "<>";
  if (firstWord(contentType) === "multipart/report") return "bounce";
  if (isNullSender && isBounceSender(from ?? "")) return "bounce";
  const words = (name: string) =>
    (Object.hasOwn(headers, name) ? headers[name]! : []).map(firstWord);
  const has = (name: string) => Object.hasOwn(headers, name) && headers[name]!.length > 0;
  if (isNullSender || AUTO_REPLY_HEADERS.some(has)) return "auto_reply";
  if (words("auto-submitted").some((word) => word !== "no" && word !== "")) return "auto_reply";
  if (BULK_HEADERS.some(has)) return "bulk";
  return words("precedence").some((word) => BULK_PRECEDENCES.has(word)) ? "bulk" : "none";
}

/** Whether an address is one that mail servers write by themselves from. */
export function isBounceSender(address: string): boolean {
  return BOUNCE_SENDERS.has(address.split("@", 1)[0]!.trim().toLowerCase());
}

/** What stands before parameters and comments, lowercased. */
function firstWord(value: string): string {
  return /^\s*(?:\([^()]*\)\s*)?([^\s;,(]*)/.exec(value)![1]!.toLowerCase();
}
