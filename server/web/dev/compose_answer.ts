/** Answers to a captured mail, as the other side would send them (docs/operations.md). */
import { RelayError } from "../../base/errors.ts";
import { type AnsweredMail, readAnswered } from "./answered_mail.ts";
import type { CapturedMail } from "./captured_mails.ts";
import { composeBounce } from "./compose_bounce.ts";
import { composePlainMail, isAddrSpec, type MailStamp } from "./compose_plain_mail.ts";
import type { MailToHandIn } from "./hand_in.ts";

/**
 * - `reply`: a person's, to Reply-To or From, with the mail quoted
 * - `bounce`: of a server that has nobody of that name, to the envelope sender (RFC 3464)
 * - `out_of_office`: of a program that answers by itself, to the envelope sender (RFC 3834)
 */
export const ANSWER_KINDS = ["reply", "bounce", "out_of_office"] as const;
export type AnswerKind = typeof ANSWER_KINDS[number];

/**
 * @param text what a reply or an out-of-office mail says; undefined for words of our own
 * @throws RelayError `not_found` where the mail names nobody to answer to
 */
export async function composeAnswer(
  kind: AnswerKind,
  mail: CapturedMail,
  text: string | undefined,
  stamp: MailStamp,
): Promise<MailToHandIn> {
  const answered = await readAnswered(mail);
  if (kind === "reply") return await composeReply(mail, answered, text, stamp);
  // An answer to the null sender would be a loop (RFC 5321, section 4.5.5).
  if (!isAddrSpec(mail.from)) {
    throw new RelayError(
      "not_found",
      "the captured mail has the null sender: it is never bounced, and no program answers it",
    );
  }
  const raw = kind === "bounce"
    ? await composeBounce(mail, answered, stamp)
    : await composeOutOfOffice(mail, answered, text, stamp);
  return { from: "", to: [mail.from], raw };
}

async function composeReply(
  { to: recipient, atMs }: CapturedMail,
  answered: AnsweredMail,
  text: string | undefined,
  stamp: MailStamp,
): Promise<MailToHandIn> {
  const { replyTo, subject } = answered;
  if (replyTo.length === 0) {
    throw new RelayError(
      "not_found",
      "the captured mail names no address that a reply could go to",
    );
  }
  const quoted = answered.text.trimEnd().split("\n").map((line) => line === "" ? ">" : `> ${line}`);
  const said = text ?? "This is a reply that local mode wrote.";
  const wrote = `On ${new Date(atMs).toUTCString()}, ${answered.from} wrote:`;
  const raw = await composePlainMail({
    from: { name: "", address: recipient },
    to: replyTo,
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`.trimEnd(),
    text: [said, "", wrote, ...quoted, ""].join("\n"),
    inReplyTo: answered.messageId,
    references: answered.references,
  }, stamp);
  return { from: recipient, to: replyTo, raw };
}

async function composeOutOfOffice(
  { from, to: recipient }: CapturedMail,
  { subject, messageId, references }: AnsweredMail,
  text = "I am out of the office and read my mail when I am back.\n\nLocal mode wrote this.\n",
  stamp: MailStamp,
): Promise<Uint8Array<ArrayBuffer>> {
  return await composePlainMail({
    from: { name: "", address: recipient },
    to: [from],
    subject: `Automatic reply: ${subject}`.trimEnd(),
    text,
    inReplyTo: messageId,
    references,
    isAutoReply: true,
  }, stamp);
}
