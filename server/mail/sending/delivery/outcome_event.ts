/** What an attempt's outcome means for its recipient (docs/mail.md, "What became of it"). Pure. */
import type { MailOutcome } from "../../../base/mailer/mailer.ts";
import {
  isHardBounce,
  NO_REPLY,
  type ReplyDetails,
  replyDetailsOf,
} from "../../mailbox/statuses/classify_reply.ts";
import type { RecipientEvent } from "../../mailbox/statuses/recipient_status.ts";

export function outcomeEvent(outcome: MailOutcome): RecipientEvent {
  switch (outcome.result) {
    case "sent":
      return {
        trigger: "accepted",
        said: outcome.reply === null ? NO_REPLY : replyDetailsOf(outcome.reply),
      };
    case "unknown":
      return { trigger: "lost", said: { ...NO_REPLY, detail: NO_FINAL_REPLY } };
    case "refused":
      return refusalEvent(outcome);
  }
}

const NO_FINAL_REPLY = "the connection broke before the next hop replied to the whole content";

type Refusal = MailOutcome & { result: "refused" };

function refusalEvent(refusal: Refusal): RecipientEvent {
  const { stage, permanent, reply, isReached } = refusal;
  const said: ReplyDetails = reply === null ? { ...NO_REPLY, detail: whyNoReply(refusal) } : {
    ...replyDetailsOf(reply),
    // What is said before MAIL is about the relay's own access: its users are told the codes alone.
    ...(isReached ? {} : { detail: "refused by the next hop before the mail" }),
  };
  if (!permanent || stage === "connection") return { trigger: "deferred", said };
  if (stage === "sender") return { trigger: "sender_refused", said };
  return { trigger: "refused", said, isHard: isHardBounce(said, stage) };
}

function whyNoReply({ isReached, reason }: Refusal): string {
  if (reason.startsWith("ETIMEDOUT")) return "the next hop did not answer in time";
  return isReached
    ? "the connection to the next hop broke before the mail was handed over"
    : "no connection to the next hop";
}
