/** Sending as a part of the mail area: what makes messages of requests, and the requests. */
import { logSparsely } from "../../base/log_sparsely.ts";
import { WrittenBlobs } from "../core/written_blobs.ts";
import type { MailPart } from "../core/mail_base.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { MailWorker } from "../worker/mail_worker.ts";
import { startMailWorker } from "../worker/start_mail_worker.ts";
import type { Suppressions } from "../mailbox/suppressions/suppressions.ts";
import { Acceptance } from "./acceptance.ts";
import { Answering } from "./answering.ts";
import { CancelMessage } from "./cancel_message.ts";
import { KeyedAnswers } from "../mailbox/answers/keyed_answers.ts";
import { LargeAnswers } from "../mailbox/answers/large_answers.ts";
import { type Proposals, sendingHandlers } from "./routes.ts";
import { Sender } from "./sender.ts";

/** What messages, drafts and notices go out by. */
export interface SenderPart extends MailPart {
  /** Reads requests to send and composes messages, whatever their size, and reads them back. */
  composer: MailWorker;
  sender: Sender;
  /** What requests write their blobs by. */
  written: WrittenBlobs;
  largeAnswers: LargeAnswers;
  keyedAnswers: KeyedAnswers;
}

export function openSender(core: MailCore, suppressions: Suppressions): SenderPart {
  const { domain, deps: { config, log } } = core;
  const { dkim } = config.mail;
  // One of its own: mail of strangers may hold a worker for seconds, and this one gets the DKIM key.
  const composer = new MailWorker({
    start: config.onDeploy ? null : startMailWorker,
    onLoss: logSparsely(log, "mail_worker_lost"),
  });
  const written = new WrittenBlobs(core);
  const largeAnswers = new LargeAnswers({ ...core, written });
  const sender = new Sender({
    ...core,
    suppressions,
    composer,
    written,
    largeAnswers,
    dkim: dkim === undefined ? null : { domain, ...dkim },
  });
  return {
    composer,
    sender,
    written,
    largeAnswers,
    keyedAnswers: new KeyedAnswers(core),
    close: () => composer.close(),
  };
}

export interface Sending extends MailPart {
  acceptance: Acceptance;
  answering: Answering;
}

/** @param proposals takes what a person has to approve first */
export function openSending(core: MailCore, senderPart: SenderPart, proposals: Proposals): Sending {
  const answering = new Answering(core);
  const services = { ...core, ...senderPart, proposals };
  const acceptance = new Acceptance(services);
  const cancel = new CancelMessage(core);
  return {
    acceptance,
    answering,
    handlers: sendingHandlers({ ...services, acceptance, answering, cancel }),
  };
}
