/** Whether a mail answers another one, passes one on, or neither. Pure. */
import type { ParsedFacts } from "../parsed/parsed_mail.ts";

export type MailKind = "reply" | "forward" | "other";

const FORWARD =
  "fwd?|wg|tr|rv|rtr|enc|doorst|vb|vl|pd|i|tov|továbbítás|ilt|i̇lt|πρθ|προωθ|转发|轉寄|転送|전달";
const REPLY =
  "re|aw|antw|antwort|sv|ref|rif|r|res|resp|odp|odpověď|ynt|vá|vast|απ|σχετ|atb|ats|отв|回复|答复|回覆|返信|회신|답장|השב|رد";
/** Behind the mark of a list or a gateway, as in "[EXT] RE[2]: ". */
const begins = (words: string) =>
  new RegExp(
    `^\\s{0,9}(?:\\[[^\\]]{1,40}\\]\\s{0,9}){0,3}(?:${words})\\s?(?:\\[\\d{1,3}\\]|\\(\\d{1,3}\\))?\\s?[:：]`,
    "iu",
  );
const FORWARD_SUBJECT = begins(FORWARD);
const REPLY_SUBJECT = begins(REPLY);

/**
 * By the first mark of its subject, else by the headers of a reply. Mail programs give these to what
 * they pass on too, so that the subject comes first.
 */
export function mailKind(
  { subject, inReplyTo, references }: Pick<ParsedFacts, "subject" | "inReplyTo" | "references">,
): MailKind {
  if (FORWARD_SUBJECT.test(subject ?? "")) return "forward";
  const isReply = REPLY_SUBJECT.test(subject ?? "") || inReplyTo !== null || references.length > 0;
  return isReply ? "reply" : "other";
}
