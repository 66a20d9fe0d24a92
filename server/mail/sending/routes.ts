/** Routes that send: send, reply, forward, cancel (docs/mail.md, "Sending mail"). */
import type { Blobs } from "../../base/blobs/blobs.ts";
import { maySee } from "../access/access.ts";
import type { SendsInFlight } from "../mailbox/statuses/sends_in_flight.ts";
import type { Inboxes } from "../mailbox/inboxes/inboxes.ts";
import type { KeyedRequest } from "../access/mail_route.ts";
import type { MailHandlers } from "../access/paths.ts";
import type { Messages } from "../mailbox/messages/messages.ts";
import { prepareAnswer } from "../mailbox/shown/show_whole.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { MessageRow } from "../records/message_record.ts";
import { type Acceptance, refuseTrial } from "./acceptance.ts";
import type { CancelMessage } from "./cancel_message.ts";
import type { Answering } from "./answering.ts";
import { giveKeyed, type KeyedAnswers } from "../mailbox/answers/keyed_answers.ts";
import type { SendBodies, SendBodyKind } from "../composing/requests/read_send_body.ts";
import type { MessageToSend, Sender } from "./sender.ts";

export { refuseTrial } from "./acceptance.ts";
export type { Proposals } from "./proposals.ts";

export interface SendingRouteServices {
  inboxes: Inboxes;
  messages: Messages;
  sender: Pick<Sender, "check">;
  acceptance: Acceptance;
  answering: Answering;
  cancel: CancelMessage;
  keyedAnswers: KeyedAnswers;
  blobs: Blobs;
  inFlight: Pick<SendsInFlight, "ofOne">;
}

export function sendingHandlers(services: SendingRouteServices) {
  const { inboxes, messages, sender, acceptance, answering, cancel, keyedAnswers } = services;

  /** Steps 7 to 11 of mail_route.ts. */
  async function accept<K extends SendBodyKind>(
    request: KeyedRequest,
    kind: K,
    inbox: Inbox,
    make: (asked: SendBodies[K]) => Promise<MessageToSend> | MessageToSend,
  ): Promise<Response> {
    const given = { key: () => keyedAnswers.keyOf(request), body: request.bytes };
    return giveKeyed(await acceptance.accept(request, inbox, given, kind, make));
  }

  /** The message that a path names, and its inbox. */
  async function find(request: KeyedRequest): Promise<{ row: MessageRow; inbox: Inbox }> {
    const row = await messages.find(request, request.params["id"]!);
    return { row, inbox: await inboxes.find(request, row.inboxId) };
  }

  return {
    async sendMail(request) {
      const inbox = await inboxes.find(request, request.params["id"]!);
      return await accept(request, "send", inbox, (asked) => newMessage(asked));
    },
    async replyToMail(request) {
      const { row, inbox } = await find(request);
      return await accept(request, "reply", inbox, (asked) => answering.reply(row, inbox, asked));
    },
    async forwardMail(request) {
      const { row, inbox } = await find(request);
      return await accept(request, "forward", inbox, async (asked) => {
        // Reading what goes on costs more than all else.
        await sender.check(request.org, inbox, { ...asked, about: row });
        return await answering.forward(row, asked);
      });
    },
    async cancelMail(request) {
      const row = await messages.find(request, request.params["id"]!);
      refuseTrial(request.org);
      const give = await prepareAnswer(services, row, maySee(request.key, row.writtenByKey));
      return await give(await cancel.run(request, row));
    },
  } satisfies MailHandlers;
}

export function newMessage(asked: SendBodies["send"]): MessageToSend {
  return { ...asked, inReplyTo: null, references: [], autoSubmitted: null, about: null };
}
