/** Routes that send: send, reply, forward, cancel (mail page, "Sending"). */
import type { Blobs } from "../../blobs/blobs.ts";
import { RelayError } from "../../errors.ts";
import { readBody } from "../../http/read_body.ts";
import type { Limits } from "../../limits.ts";
import type { Sendings } from "../delivery/sending_now.ts";
import type { Inboxes } from "../inboxes/inboxes.ts";
import type { MailCaller } from "../keys/authenticate_key.ts";
import type { KeyedRequest, MailHandlers } from "../mail_routes.ts";
import type { Messages } from "../messages/messages.ts";
import { showWhole } from "../messages/show_whole.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type { MessageRow } from "../records/message_record.ts";
import type { CancelMessage } from "./cancel_message.ts";
import type { Answering } from "./answering.ts";
import type { KeyedAnswers } from "./keyed_answers.ts";
import type { OutgoingWork } from "./outgoing_work.ts";
import type { OutgoingKind, OutgoingRequests } from "./read_outgoing.ts";
import type { MessageToSend, Sender } from "./sender.ts";

/** What becomes of a message that a person has to approve first. */
export interface Proposals {
  /**
   * Keeps it as a draft and asks for approval.
   * @returns the answer, JSON: {status: "pending_approval", draft}
   */
  propose(
    caller: MailCaller,
    inbox: Inbox,
    message: MessageToSend,
    keyed?: Parameters<Sender["send"]>[3] extends infer O
      ? O extends { keyed?: infer K } ? K : never
      : never,
  ): Promise<Uint8Array<ArrayBuffer>>;
}

export interface SendingRouteServices {
  inboxes: Inboxes;
  messages: Messages;
  sender: Sender;
  answering: Answering;
  cancel: CancelMessage;
  keyedAnswers: KeyedAnswers;
  work: OutgoingWork;
  /** Null where drafts are not there. */
  proposals: Proposals;
  blobs: Blobs;
  sendings: Pick<Sendings, "ofOne">;
  limits: Limits;
  now: () => number;
}

export function sendingHandlers(services: SendingRouteServices) {
  const { inboxes, messages, sender, answering, cancel, keyedAnswers, proposals } = services;

  /** Steps 7 to 11 of mail_routes.ts. */
  async function accept<K extends OutgoingKind>(
    request: KeyedRequest,
    kind: K,
    inbox: Inbox,
    make: (asked: OutgoingRequests[K]) => Promise<MessageToSend> | MessageToSend,
  ): Promise<Response> {
    const { c, org, key, confirm } = request;
    refuseTrial(org);
    const { limits, now, work } = services;
    const given = keyedAnswers.keyOf(request);
    const body = await readBody(c);
    const context = { limits, nowMs: now() };
    const asked = await work.read(kind, body, context, given !== null);
    await confirm(); // a body may take two minutes
    return await keyedAnswers.answer(given, asked.fingerprint, async (keyed) => {
      const message = await make(asked.request);
      const isProposal = inbox.sendPolicy === "draft_only" && key.scope === "inbox";
      return isProposal
        ? await proposals.propose(request, inbox, message, keyed)
        : await sender.send(org, inbox, message, keyed === undefined ? {} : { keyed });
    });
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
      return await accept(request, "forward", inbox, (asked) => answering.forward(row, asked));
    },
    async cancelMail(request) {
      const row = await messages.find(request, request.params["id"]!);
      refuseTrial(request.org);
      return await showWhole(services, await cancel.run(row));
    },
  } satisfies MailHandlers;
}

/** @throws RelayError `trial_org_cannot_send` */
export function refuseTrial(org: { trialEndsAtMs: number | null }): void {
  if (org.trialEndsAtMs === null) return;
  throw new RelayError(
    "trial_org_cannot_send",
    "a trial only receives; have a person claim the org (POST /v1/mail/org/claim), then send",
  );
}

export function newMessage(asked: OutgoingRequests["send"]): MessageToSend {
  return { ...asked, inReplyTo: null, references: [], autoSubmitted: null, about: null };
}
