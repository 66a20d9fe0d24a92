/** The body of a forwarded message (docs/mail.md, "Answers and forwards"). Pure. */
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import type { MessageRow } from "../records/message_record.ts";
import { cleanLineOf } from "../composing/requests/clean_line_of.ts";
import type { MessageLimits } from "../records/message_content.ts";
import { refuseLargeBodies } from "../composing/requests/read_bodies.ts";

const LINE = "---------- Forwarded message ----------";
/** Code points of a line about the original. */
const MAX_LINE = 998;

/**
 * The text of a forward: what its sender says, a line, what the original was, and its text.
 * @param text null for none
 * @param original its row, and its text; null where it has none
 * @throws RelayError `payload_too_large`
 */
export function forwardText(
  text: string | null,
  original: Pick<MessageRow, "from" | "to" | "subject" | "createdAtMs">,
  originalText: string | null,
  limits: Pick<MessageLimits, "mailBodyBytes">,
): string {
  const about = [
    ...(original.from === null ? [] : [`From: ${shown(original.from)}`]),
    `Date: ${rfc5322Date(original.createdAtMs)}`,
    `Subject: ${cleanLineOf(original.subject ?? "", MAX_LINE)}`.trimEnd(),
    ...(original.to.length === 0
      ? []
      : [`To: ${cleanLineOf(original.to.map(shown).join(", "), MAX_LINE)}`]),
  ];
  // NUL would be refused in a text of the sender's own.
  const quoted = (originalText ?? "").toWellFormed().replaceAll("\0", "\ufffd");
  const before = text === null ? "" : `${text.trimEnd()}\n\n`;
  const body = `${before}${[LINE, ...about].join("\n")}\n\n${quoted}`;
  refuseLargeBodies([body], limits);
  return body;
}

function shown({ name, address }: MailAddress): string {
  return cleanLineOf(name === null ? address : `${name} <${address}>`, MAX_LINE);
}

/** A time as mail writes it, in UTC: "Sun, 22 Nov 2026 10:00:00 +0000" (RFC 5322, section 3.3). @param atMs unix ms */
function rfc5322Date(atMs: number): string {
  return new Date(atMs).toUTCString().replace("GMT", "+0000");
}
