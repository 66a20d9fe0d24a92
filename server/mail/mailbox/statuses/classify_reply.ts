/** What a next hop's reply means for a recipient (docs/mail.md, "What became of it"). Pure. */
import type { RefusalStage } from "../../../base/mailer/mailer.ts";
import type { SmtpReply } from "../../../base/mailer/smtp_reply.ts";
import type { Recipient } from "../../records/message_record.ts";

/** What a recipient keeps of a reply. */
export type ReplyDetails = Pick<Recipient, "smtpCode" | "enhancedCode" | "detail">;

export const NO_REPLY: ReplyDetails = { smtpCode: null, enhancedCode: null, detail: null };

const MAX_DETAIL = 200;
/** Controls, invisible characters and those that change how their surroundings are read. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\ufffd\u{e0000}-\u{e0fff}\ufe00-\ufe0f\u115f\u1160\u3164\uffa0]/gu;

/** What a reply says, in one line of at most 200 characters; null where nothing is left. */
export function detailOf(text: string): string | null {
  // Only the beginning counts: what lies beyond is not worth the time to clean it.
  const line = text.slice(0, 8 * MAX_DETAIL).replaceAll(UNSEEN, " ").replaceAll(/\s+/g, " ").trim();
  if (line.length <= MAX_DETAIL) return line === "" ? null : line;
  const isSplit = /[\ud800-\udbff]/.test(line[MAX_DETAIL - 1]!);
  return line.slice(0, isSplit ? MAX_DETAIL - 1 : MAX_DETAIL).trimEnd();
}

/** What a recipient keeps of a reply, codes as they really were. */
export function replyDetailsOf(reply: SmtpReply): ReplyDetails {
  return { smtpCode: reply.code, enhancedCode: reply.enhancedCode, detail: detailOf(reply.text) };
}

/**
 * Whether a final refusal says that the address does not exist: 5.1.x, 5.2.1, or at RCPT a 550, 551
 * or 553 that says nothing closer. All others are soft.
 * @param stage null where it is not known, as in a report
 */
export function isHardBounce(
  { smtpCode, enhancedCode }: Pick<ReplyDetails, "smtpCode" | "enhancedCode">,
  stage: RefusalStage | null,
): boolean {
  if (enhancedCode !== null) return /^5\.(?:1\.[0-9]+|2\.1)$/.test(enhancedCode);
  return stage === "recipient" && (smtpCode === 550 || smtpCode === 551 || smtpCode === 553);
}
