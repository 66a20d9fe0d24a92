/** What the headers of a message say of it. Pure; linear in their bytes. */
import { parseAddresses } from "./addresses.ts";
import { classifyMail } from "./automated.ts";
import { fieldValue } from "./header_fields.ts";
import { decodedValue, showHeaders } from "./show_headers.ts";
import { removeInvisible } from "./invisible_characters.ts";
import { firstMessageId, messageIds } from "./message_ids.ts";
import type {
  MailAddress,
  ParseContext,
  ParsedFacts,
  ParseWarning,
} from "../parsed/parsed_mail.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import type { MailPart } from "./walk_parts.ts";

/** Code points. */
export const MAX_SUBJECT = 998;
/** Addresses of one list that are read at all; the record holds fewer. */
const MAX_ADDRESSES = 500;

export type HeaderFacts = Pick<
  ParsedFacts,
  | "from"
  | "replyTo"
  | "to"
  | "cc"
  | "subject"
  | "rfcMessageId"
  | "inReplyTo"
  | "references"
  | "automated"
  | "hiddenTextRemoved"
>;

/**
 * @param root the message itself
 * @param warnings gets what could not be read
 */
export function* readRootHeaders(
  raw: Uint8Array,
  root: MailPart,
  { envelopeFrom }: Pick<ParseContext, "envelopeFrom">,
  warnings: Set<ParseWarning>,
): Sliced<{ facts: HeaderFacts; headers: Record<string, string[]> }> {
  let hiddenTextRemoved = false;
  const visible = (text: string) => {
    const clean = removeInvisible(text);
    hiddenTextRemoved ||= clean.removed;
    return clean.text;
  };
  const fieldsOf = (name: string) => root.fields.filter((field) => field.name === name);
  const decoded = (name: string) => fieldsOf(name).map((f) => decodedValue(raw, f, warnings));
  const list = (name: string, max: number): { addresses: MailAddress[]; isCut: boolean } => {
    const found: MailAddress[] = [];
    let isCut = false;
    for (const field of fieldsOf(name)) {
      const text = fieldValue(raw, field, () => warnings.add("unknown_charset"));
      const parsed = parseAddresses(text, max - found.length, warnings);
      for (const { name, address } of parsed.addresses) {
        found.push({ name: name === null ? null : visible(name).trim() || null, address });
      }
      isCut ||= parsed.isCut;
      if (isCut) break;
    }
    return { addresses: found, isCut };
  };
  const bounded = (name: string) => {
    const { addresses, isCut } = list(name, MAX_ADDRESSES);
    if (isCut) warnings.add("addresses_cut");
    return addresses;
  };

  const senders = list("from", 1);
  const from = senders.addresses[0] ?? null;
  if (senders.isCut || fieldsOf("from").length > 1) warnings.add("several_from");
  if (from === null && fieldsOf("from").length > 0) warnings.add("invalid_from");
  const headers = yield* showHeaders(raw, root.fields, warnings);
  const subject = decoded("subject")[0];
  const facts = {
    from,
    replyTo: bounded("reply-to"),
    to: bounded("to"),
    cc: bounded("cc"),
    subject: subject === undefined ? null : cutSubject(visible(subject), warnings),
    rfcMessageId: firstMessageId(decoded("message-id").slice(0, 1)),
    inReplyTo: firstMessageId(decoded("in-reply-to").slice(0, 1)),
    references: messageIds(decoded("references"), warnings),
    automated: classifyMail({
      headers,
      contentType: root.contentType,
      envelopeFrom,
      from: from?.address ?? null,
    }),
    hiddenTextRemoved,
  };
  return { facts: { ...facts, hiddenTextRemoved }, headers };
}

function cutSubject(subject: string, warnings: Set<ParseWarning>): string {
  const line = subject.trim();
  if (line.length <= MAX_SUBJECT) return line;
  const points = [...line.slice(0, 2 * MAX_SUBJECT + 2)];
  if (points.length <= MAX_SUBJECT) return line;
  warnings.add("subject_cut");
  return points.slice(0, MAX_SUBJECT).join("");
}
