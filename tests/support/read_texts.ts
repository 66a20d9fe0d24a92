import type { ShownTexts } from "../../server/mail/mailbox/shown/shown_texts.ts";
import type { ReadMailResult } from "../../server/mail/reading/read_mail.ts";

/** The texts of a mail that the worker has read. */
export function readTexts({ rest }: Pick<ReadMailResult, "rest">): ShownTexts {
  return JSON.parse(new TextDecoder().decode(rest));
}
