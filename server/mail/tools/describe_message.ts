/** Messages in prose: what the relay knows of one, and what strangers wrote, quoted. */
import type { Quotation } from "../../base/tool_server/untrusted_text.ts";
import type { MailAddress, ParseWarning } from "../reading/parsed/parsed_mail.ts";
import type { MessageEntry } from "./message_entry.ts";

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
    ]
    : [`written by this inbox ${created_at}`, `status ${status}`];
  for (const warning of entry.parse_warnings) {
    if (Object.hasOwn(CAUTIONS, warning)) facts.push(CAUTIONS[warning]!);
  }
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

/** The parse_warnings that a reader of the text has to know first. */
const CAUTIONS = {
  alternatives_differ:
    "alternatives_differ: its plain text says something else than its HTML, which mail programs show and which follows",
  styles_not_judged:
    "styles_not_judged: it has styles that could not be judged, so what follows may hold text that a reader would not see, or lack some",
  too_complex:
    "too_complex: its HTML was too complex to judge all of it, so what follows may hold text that a reader would not see",
} satisfies Partial<Record<ParseWarning, string>> as Readonly<Record<string, string>>;

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
