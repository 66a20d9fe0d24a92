/** What the mail area asks of the parser. */
import type { ParseContext, ParsedFacts } from "./parsed_mail.ts";

/** A parsed message whose texts are finished JSON already (messages/message_texts.ts). */
export interface ReadMailResult {
  facts: ParsedFacts;
  head: Uint8Array<ArrayBuffer>;
  rest: Uint8Array<ArrayBuffer>;
}

export type ReadMail = (
  raw: Uint8Array<ArrayBuffer>,
  context: ParseContext,
) => Promise<ReadMailResult>;

/**
 * The decoded bytes of one attachment.
 * @param index among the attachments, from 0
 * @throws RelayError `unavailable` where too much waits
 */
export type ReadAttachment = (
  raw: Uint8Array<ArrayBuffer>,
  index: number,
  limits: ParseContext["limits"],
) => Promise<Uint8Array<ArrayBuffer>>;
