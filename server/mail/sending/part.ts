/** Sending as a part of the mail area: what makes messages of requests, and the requests. */
import { mount } from "../../base/description/declaration.ts";
import { logSparsely } from "../../base/log_sparsely.ts";
import { WrittenBlobs } from "../core/written_blobs.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { MailWorker, startMailWorker } from "../worker/mail_worker.ts";
import type { Suppressions } from "../mailbox/suppressions/suppressions.ts";
import { Acceptance, type Propose } from "./acceptance.ts";
import { Answering } from "./answering.ts";
import { KeyedAnswers } from "../mailbox/answers/keyed_answers.ts";
import { ANSWERING_ROUTES, SEND_ROUTES } from "./routes.ts";
import { Sender } from "./sender.ts";

/** What messages, drafts and notices go out by. */
export interface SenderPart extends Part {
  /** Reads requests, composes and shows messages off the main thread, whatever their size. */
  composer: MailWorker;
  sender: Sender;
  /** What requests write their blobs by. */
  written: WrittenBlobs;
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
  const sender = new Sender({
    ...core,
    suppressions,
    composer,
    written,
    dkim: dkim === undefined ? null : { domain, ...dkim },
  });
  return {
    composer,
    sender,
    written,
    keyedAnswers: new KeyedAnswers({ ...core, written }),
    close: () => composer.close(),
  };
}

export interface Sending extends Part {
  acceptance: Acceptance;
  answering: Answering;
}

export function openSending(core: MailCore, senderPart: SenderPart, propose: Propose): Sending {
  const answering = new Answering(core);
  const acceptance = new Acceptance({ ...core, ...senderPart, propose });
  const services = { ...core, ...senderPart, acceptance, answering };
  return {
    acceptance,
    answering,
    routes: mount([...SEND_ROUTES, ...ANSWERING_ROUTES], services),
  };
}
