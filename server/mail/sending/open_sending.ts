/** Everything that sends, put together. */
import type { Blobs } from "../../blobs/blobs.ts";
import type { Core } from "../../core.ts";
import { logSparsely } from "../../log_sparsely.ts";
import type { OutgoingQueue } from "../../outgoing/outgoing_queue.ts";
import type { MailConfig } from "../../config.ts";
import { Drafts } from "../drafts/drafts.ts";
import { approvalWaker, openDrafts } from "../drafts/open_drafts.ts";
import { proposeDraft } from "../drafts/propose.ts";
import type { Sendings } from "../delivery/sending_now.ts";
import type { MailToCompose } from "../composing/compose_mail.ts";
import type { Inboxes } from "../inboxes/inboxes.ts";
import type { ListPages } from "../list_pages.ts";
import type { Mailboxes } from "../mailboxes/mailboxes.ts";
import type { Messages } from "../messages/messages.ts";
import { MailWorker } from "../parsing/mail_worker.ts";
import { startMailWorker } from "../parsing/start_mail_worker.ts";
import type { MailSecret } from "../secret/mail_secret.ts";
import type { Suppressions } from "../suppressions/suppressions.ts";
import { Acceptance } from "./acceptance.ts";
import { Answering } from "./answering.ts";
import { CancelMessage } from "./cancel_message.ts";
import { KeyedAnswers } from "./keyed_answers.ts";
import { LargeAnswers } from "./large_answers.ts";
import { OutgoingWork } from "./outgoing_work.ts";
import { type Proposals, sendingHandlers } from "./routes.ts";
import { Sender } from "./sender.ts";

export interface SendingParts extends Core {
  random: (sizeBytes: number) => Uint8Array;
  now: () => number;
  inboxes: Inboxes;
  mailboxes: Mailboxes;
  messages: Messages;
  blobs: Blobs;
  outgoing: Pick<OutgoingQueue, "wake">;
  suppressions: Suppressions;
  pages: ListPages;
  secret: MailSecret;
  /** {base_url}, without a trailing slash. */
  baseUrl: string;
  sendings: Sendings;
  /** The worker that reads mail of strangers. */
  reader: Pick<MailWorker, "readAttachments">;
  domain: string;
  dkim: MailConfig["dkim"];
}

export function openSending(parts: SendingParts) {
  const { deps: { config, log }, dkim, domain } = parts;
  // One of its own: mail of strangers may hold a worker for seconds, and this one gets the DKIM key.
  const worker = new MailWorker({
    start: config.onDeploy ? null : startMailWorker,
    onLoss: logSparsely(log, "mail_worker_lost"),
  });
  const work = new OutgoingWork(worker);
  const largeAnswers = new LargeAnswers(parts);
  const services = { ...parts, work, worker, largeAnswers };
  const sender = new Sender({ ...services, dkim: dkim === undefined ? null : { domain, ...dkim } });
  const answering = new Answering({ ...services, reader: parts.reader });
  const keyedAnswers = new KeyedAnswers(parts);
  const cancel = new CancelMessage(parts);
  const drafts = new Drafts({ ...parts, largeAnswers });
  const wake = approvalWaker(parts.outgoing, parts);
  const proposals: Proposals = {
    propose: (...asked) => proposeDraft({ drafts, wake }, ...asked),
  };
  const acceptance = new Acceptance({ ...services, sender, keyedAnswers, proposals });
  const draftParts = { ...services, sender, keyedAnswers, drafts, wake };
  return {
    sender,
    answering,
    keyedAnswers,
    compose: (mail: MailToCompose) => work.compose(mail),
    acceptance,
    drafts,
    handlers: {
      ...sendingHandlers({ ...services, sender, acceptance, answering, cancel, keyedAnswers }),
      ...openDrafts(draftParts).handlers,
    },
    everyMinute: () => largeAnswers.sweep(),
    close: () => worker.close(),
  };
}
