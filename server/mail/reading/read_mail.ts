/** What the mail area asks of the parser, which lies behind a worker (mail_worker.ts). */
import type { EncodedTexts } from "./parsed/encoded_texts.ts";
import type { ParsedFacts } from "./parsed/parsed_mail.ts";

/** A parsed message whose texts are finished JSON already. */
export interface ReadMailResult extends EncodedTexts {
  facts: ParsedFacts;
}
