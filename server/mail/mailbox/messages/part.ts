/** Messages and threads as a part of the mail area: how they are read and changed, and when they go. */
import type { MailBase, MailPart } from "../../core/mail_base.ts";
import type { SendsInFlight } from "../statuses/sends_in_flight.ts";
import type { Inboxes } from "../inboxes/inboxes.ts";
import { OrgAnswerBudget } from "./org_answer_budget.ts";
import { MessagePages } from "./message_pages.ts";
import type { Messages } from "./messages.ts";
import { MessageStreams } from "./message_streams.ts";
import { Retention } from "./retention.ts";
import { messageHandlers } from "./routes.ts";
import { ThreadPages } from "./thread_pages.ts";

/** A page of a stream, of which ten of an org may stand untaken. */
const STREAM_PAGE_BYTES = 64 * 1024;

export interface MessagesServices extends MailBase {
  inboxes: Inboxes;
  messages: Messages;
  inFlight: SendsInFlight;
}

export function openMessages(core: MessagesServices): MailPart {
  const { store, leases, messages, inFlight, answers, limits, now, deps: { log } } = core;
  const { pageBytes } = limits;
  const pagesOf = (bytes: number) =>
    new MessagePages({ store, messages, inFlight, pageBytes: bytes });
  const retention = new Retention({ store, leases, messages, now, log });
  return {
    handlers: messageHandlers({
      ...core,
      messagePages: pagesOf(pageBytes),
      streamPages: pagesOf(STREAM_PAGE_BYTES),
      threadPages: new ThreadPages({ store, messages, pageBytes }),
      streams: new MessageStreams(),
      answerBudget: new OrgAnswerBudget(answers),
    }),
    start: () => retention.begin(),
    everyMinute: () => retention.run(),
    close: () => retention.close(),
  };
}
