/** Messages in prose: what the relay knows of one, and what strangers wrote, quoted. */
import type { Quotation } from "../../tool_server/untrusted_text.ts";
import type { MailAddress, ParseWarning } from "../parsing/parsed_mail.ts";
import type { MessageEntry } from "./message_entry.ts";

const TOO_COMPLEX: ParseWarning = "too_complex";
const ABOUT_TOO_COMPLEX =
  "too_complex: its HTML was too complex to judge all of it, so what follows may hold text that a reader would not see";

/** Bytes of the nonce around what strangers wrote. */
export const NONCE_BYTES = 16;

/**
 * @param body what stands behind the header, as in a mail
 * @param details further lines of the header
 */
export function describeMessage(
  entry: Omit<MessageEntry, "parse_warnings"> & { parse_warnings: readonly string[] },
  quotation: Quotation,
  { body, details = [], note }: { body: string | null; details?: readonly string[]; note?: string },
): string {
  const { direction, id, thread_id, created_at, status, auth, automated } = entry;
  const facts = direction === "inbound"
    ? [
      `received ${created_at}`,
      entry.read ? null : "unread",
      `auth.verdict ${auth?.verdict ?? "none"}`,
      `automated ${automated}`,
      entry.parse_warnings.includes("reply_to_unsigned")
        ? "its Reply-To was signed by nobody who stands for From, so that a reply goes to From"
        : null,
      entry.hidden_text_removed ? "text that a reader would not see was left out" : null,
      entry.parse_warnings.includes(TOO_COMPLEX) ? ABOUT_TOO_COMPLEX : null,
    ]
    : [`written by this inbox ${created_at}`, `status ${status}`];
  const header = [
    lineOf("From", entry.from === null ? [] : [entry.from]),
    lineOf("To", entry.to),
    lineOf("Cc", entry.cc),
    lineOf("Reply-To", entry.reply_to),
    entry.subject === null ? null : `Subject: ${entry.subject}`,
    ...details,
    ...entry.attachments.map(({ id, filename, size, url }) =>
      `Attachment ${id}: ${filename ?? "(no name)"}, ${size} bytes, ${url}`
    ),
  ];
  const quoted = [present(header).join("\n"), ...(body === null ? [] : [body.trimEnd()])].join(
    "\n\n",
  );
  const noted = note === undefined ? "" : `\n${note}`;
  return `Message ${id} of thread ${thread_id}: ${present(facts).join(", ")}.\n` +
    `${quotation.quote(quoted)}${noted}`;
}

/** What the check of a sender means. */
export const ABOUT_AUTH =
  "auth.verdict pass means that the domain of From stands behind the message, not who wrote it; with any other " +
  "verdict From may be forged.";

function lineOf(name: string, addresses: readonly MailAddress[]): string | null {
  if (addresses.length === 0) return null;
  return `${name}: ${addresses.map(nameAddress).join(", ")}`;
}

function nameAddress({ name, address }: MailAddress): string {
  return name === null ? address : `${name} <${address}>`;
}

function present(lines: readonly (string | null)[]): string[] {
  return lines.filter((line) => line !== null);
}
