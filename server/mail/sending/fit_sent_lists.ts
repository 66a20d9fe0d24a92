/** Lists of a message that is sent, cut so that its row fits a value of the store. Pure. */
import { countFitting, fitLists } from "../reading/parsed/fit_lists.ts";
import type { MailAddress, ParseWarning } from "../reading/parsed/parsed_mail.ts";
import type { NewMessage } from "../mailbox/messages/stage_message.ts";

/** Bytes as JSON: what becomes of 50 recipients takes as much again, and a value has 64 KiB. */
const LIST_BYTES = 20 * 1024;
const BCC_BYTES = 4 * 1024;

/** The message as its row holds it; its parse_warnings name the lists that were cut. */
export function fitSentLists(message: NewMessage): NewMessage {
  const warnings = new Set<ParseWarning>(message.parseWarnings);
  const { to, cc, replyTo, references, attachments } = message;
  const lists = fitLists({ to, cc, replyTo, references, attachments }, warnings, LIST_BYTES);
  const { count } = countFitting(message.bcc, BCC_BYTES);
  if (count < message.bcc.length) warnings.add("addresses_cut");
  const bcc: readonly MailAddress[] = message.bcc.slice(0, count);
  return { ...message, ...lists, bcc, parseWarnings: [...warnings] };
}
