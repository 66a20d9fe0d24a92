/** Whom an answer goes to (docs/mail.md, "Answers and forwards"). Pure. */
import { RelayError } from "../../base/errors.ts";
import { domainOf } from "../../base/outgoing/recipient_domain.ts";
import { isBounceAddress } from "../composing/bounce_address.ts";
import { cleanEmail } from "../records/email_address.ts";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import type { MessageRow } from "../records/message_record.ts";
import { cleanLineOf } from "../composing/requests/clean_line_of.ts";
import type { MessageLimits, Recipients } from "../records/message_content.ts";
import { MAX_NAME, uniqueRecipients } from "../composing/requests/read_addresses.ts";
import { MAX_REPLY_TO } from "../composing/requests/read_send.ts";

export interface ReplyTargetsOptions {
  /** Address of the inbox that answers, lowercased. */
  ownAddress: string;
  replyAll: boolean;
  limits: Pick<MessageLimits, "mailRecipientsPerMessage">;
}

/**
 * Recipients of an answer: Reply-To, else From; of one's own message its To. With replyAll also the
 * rest of To, and Cc. The inbox itself is none of them, in whatever spelling, nor are addresses of
 * bounces, which lead to it too, and those that no mail can go to; where that leaves no address of
 * Reply-To, or no signer of it speaks for From, it is From.
 * @throws RelayError `invalid_email` when none is left, or Reply-To is a list; `invalid_json` for
 * more than one message may have
 */
export function replyTargets(
  message: AnsweredMessage,
  { ownAddress, replyAll, limits }: ReplyTargetsOptions,
): Recipients {
  const usable = (addresses: readonly MailAddress[]) =>
    addresses.flatMap((one) => usableAddress(one, ownAddress));
  const answered = answeredAddresses(message, usable);
  const recipients = uniqueRecipients(
    replyAll
      ? { to: [...answered, ...usable(message.to)], cc: usable(message.cc), bcc: [] }
      : { to: answered, cc: [], bcc: [] },
    limits,
  );
  if (recipients.to.length > 0) return recipients;
  if (recipients.cc.length > 0) return { to: recipients.cc, cc: [], bcc: [] };
  throw new RelayError(
    "invalid_email",
    "the message names no address that an answer can go to, other than this inbox's own; send a new message",
  );
}

type AnsweredMessage = Pick<
  MessageRow,
  "direction" | "from" | "replyTo" | "to" | "cc" | "parseWarnings"
>;

function answeredAddresses(
  { direction, from, replyTo, to, parseWarnings }: AnsweredMessage,
  usable: (addresses: readonly MailAddress[]) => MailAddress[],
): MailAddress[] {
  if (direction === "outbound") return usable(to);
  if (!parseWarnings.includes("reply_to_unsigned")) {
    if (replyTo.length > MAX_REPLY_TO) {
      throw new RelayError(
        "invalid_email",
        `the message asks for answers to ${replyTo.length} addresses, at most ${MAX_REPLY_TO} are allowed; send to those that you mean`,
      );
    }
    const wanted = usable(replyTo);
    if (wanted.length > 0) return wanted;
  }
  return from === null ? [] : usable([from]);
}

/** Names come decoded from strangers: they have to be lines of ours. */
function usableAddress({ name, address }: MailAddress, ownAddress: string): MailAddress[] {
  try {
    const given = cleanEmail("address", address);
    if (isSpellingOf(ownAddress, given) || isBounceAddress(given, domainOf(ownAddress))) return [];
  } catch {
    return [];
  }
  return [{ name: name === null ? null : cleanLineOf(name, MAX_NAME) || null, address }];
}

/** Whether an address leads to an inbox: in any case, with anything behind a `+` (docs/mail.md). */
export function isSpellingOf(ownAddress: string, address: string): boolean {
  const at = address.lastIndexOf("@");
  const [localPart] = address.slice(0, at).split("+");
  return `${localPart}${address.slice(at)}`.toLowerCase() === ownAddress;
}
