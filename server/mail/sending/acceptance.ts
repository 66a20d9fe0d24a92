/** Requests that send, from the caller's rights to the answer: steps 7 to 11 of mail_route.ts. */
import { RelayError } from "../../base/errors.ts";
import { mayRead } from "../access/access.ts";
import type { MailCaller } from "../access/authenticate_key.ts";
import type { Inbox } from "../records/inbox_record.ts";
import type {
  GivenKey,
  KeyedAnswer,
  KeyedAnswers,
  KeyedWork,
} from "../mailbox/answers/keyed_answers.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { hideRecipients } from "./hide_recipients.ts";
import type { MailWorker } from "../worker/mail_worker.ts";
import type { SendBodies, SendBodyKind } from "../composing/requests/read_send_body.ts";
import type { MessageToSend, Sender } from "./sender.ts";

/**
 * Keeps a message as a draft and asks for approval.
 * @param keyed of the request's Idempotency-Key
 * @returns the answer, JSON: {status: "pending_approval", draft}
 */
export type Propose = (
  caller: MailCaller,
  inbox: Inbox,
  message: MessageToSend,
  keyed?: KeyedWork,
) => Promise<Uint8Array<ArrayBuffer>>;

export interface AcceptanceServices extends MailCore {
  sender: Sender;
  keyedAnswers: KeyedAnswers;
  composer: Pick<MailWorker, "readRequest">;
  /** What becomes of a message that a person has to approve first. */
  propose: Propose;
}

/** The caller. */
export interface SendingCaller extends MailCaller {
  /** The key may have died while the body was read. @throws RelayError as for a new request */
  confirm(): Promise<void>;
}

/** Parts of the request; each is asked for once nothing before it is wrong. */
export interface GivenRequest {
  /** @throws RelayError `invalid_json` */
  key(): GivenKey | null;
  /** JSON. @throws RelayError `payload_too_large`, `request_timeout` */
  body(): Promise<Uint8Array>;
}

export class Acceptance {
  constructor(private readonly services: AcceptanceServices) {}

  /**
   * Accepts a message for an inbox that the caller may write for, or keeps it for approval.
   * @param make the message that the body asks for
   * @throws RelayError `trial_org_cannot_send`, and the refusals of the body, its key and sending
   */
  async accept<K extends SendBodyKind>(
    caller: SendingCaller,
    { id: inboxId }: Pick<Inbox, "id">,
    given: GivenRequest,
    kind: K,
    make: (asked: SendBodies[K]) => Promise<MessageToSend> | MessageToSend,
  ): Promise<KeyedAnswer> {
    const { inboxes, limits, now, composer, keyedAnswers, propose, sender } = this.services;
    refuseTrial(caller.org);
    const body = await given.body();
    const key = given.key();
    const context = { limits, nowMs: now() };
    const asked = await composer.readRequest(kind, body, context, key !== null, caller.org.id);
    // The worker may have been busy: what the key may do, and the inbox lets, is asked again.
    await caller.confirm();
    const inbox = await inboxes.find(caller, inboxId);
    const send = async (keyed?: KeyedWork) => {
      const message = await make(asked.request);
      return needsApproval(caller, inbox)
        ? await propose(caller, inbox, message, keyed)
        : await sender.send(caller, inbox, message, keyed === undefined ? {} : { keyed });
    };
    // A stranger's mail names the recipients of a reply.
    const isHidden = kind === "reply" && !mayRead(caller.key);
    return await keyedAnswers.once(
      key,
      asked.fingerprint,
      isHidden ? (keyed) => hideRecipients(() => send(keyed)) : send,
    );
  }
}

/** Whether what a caller sends becomes a draft first. Pure. */
export function needsApproval(
  { key }: Pick<MailCaller, "key">,
  { sendPolicy }: Pick<Inbox, "sendPolicy">,
): boolean {
  return sendPolicy === "draft_only" && key.scope === "inbox";
}

/** @throws RelayError `trial_org_cannot_send` */
export function refuseTrial(org: { trialEndsAtMs: number | null }): void {
  if (org.trialEndsAtMs === null) return;
  throw new RelayError(
    "trial_org_cannot_send",
    "a trial only receives; have a person claim the org (POST /v1/mail/org/claim), then send",
    {
      toolMessage:
        "a trial only receives; tell the person you work for to claim the org (they POST their e-mail " +
        "address to /v1/mail/org/claim with this API key and follow the link that they get), then call again",
    },
  );
}
