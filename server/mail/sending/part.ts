/** Sending as a part of the mail area: what makes messages of requests, and the requests. */
import { logSparsely } from "../../log_sparsely.ts";
import type { MailToCompose } from "../composing/compose_mail.ts";
import { WrittenBlobs } from "../mailboxes/written_blobs.ts";
import type { MailCore, MailPart } from "../mail_core.ts";
import { MailWorker, startMailWorker } from "../parsing/mail_worker.ts";
import type { Suppressions } from "../suppressions/suppressions.ts";
import { Acceptance } from "./acceptance.ts";
import { Answering } from "./answering.ts";
import { CancelMessage } from "./cancel_message.ts";
import { KeyedAnswers } from "./keyed_answers.ts";
import { LargeAnswers } from "./large_answers.ts";
import { type Proposals, sendingHandlers } from "./routes.ts";
import { Sender } from "./sender.ts";

/** What messages, drafts and notices go out by. */
export interface Outbound extends MailPart {
  /** Reads requests, composes and shows messages off the main thread, whatever their size. */
  work: MailWorker;
  sender: Sender;
  /** What requests write their blobs by. */
  written: WrittenBlobs;
  largeAnswers: LargeAnswers;
  keyedAnswers: KeyedAnswers;
  /** @param owner whose turn it takes, off the main thread */
  compose(mail: MailToCompose, owner: string): Promise<Uint8Array<ArrayBuffer>>;
}

export function openOutbound(core: MailCore, suppressions: Suppressions): Outbound {
  const { domain, deps: { config, log } } = core;
  const { dkim } = config.mail;
  // One of its own: mail of strangers may hold a worker for seconds, and this one gets the DKIM key.
  const work = new MailWorker({
    start: config.onDeploy ? null : startMailWorker,
    onLoss: logSparsely(log, "mail_worker_lost"),
  });
  const written = new WrittenBlobs(core);
  const largeAnswers = new LargeAnswers({ ...core, written });
  const sender = new Sender({
    ...core,
    suppressions,
    work,
    written,
    largeAnswers,
    dkim: dkim === undefined ? null : { domain, ...dkim },
  });
  return {
    work,
    sender,
    written,
    largeAnswers,
    keyedAnswers: new KeyedAnswers(core),
    compose: (mail, owner) => work.compose(mail, owner),
    close: () => work.close(),
  };
}

export interface Sending extends MailPart {
  acceptance: Acceptance;
  answering: Answering;
}

/** @param proposals takes what a person has to approve first */
export function openSending(core: MailCore, outbound: Outbound, proposals: Proposals): Sending {
  const answering = new Answering(core);
  const services = { ...core, ...outbound, proposals };
  const acceptance = new Acceptance(services);
  const cancel = new CancelMessage(core);
  return {
    acceptance,
    answering,
    handlers: sendingHandlers({ ...services, acceptance, answering, cancel }),
  };
}
