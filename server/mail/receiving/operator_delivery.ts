/** Hands mail for the operator to the next hop: each as a file, in a mail of the relay's own. */
import { BlobDamaged } from "../../base/blobs/blob_damaged.ts";
import type { BlobRef } from "../../base/blobs/blobs.ts";
import { givenUpAtMs, isGivenUp } from "../../base/outgoing/given_up_at.ts";
import { isDeferral, type Mailer, type MailOutcome } from "../../base/mailer/mailer.ts";
import type {
  AttemptOutcome,
  OutgoingHandler,
  OutgoingItem,
} from "../../base/outgoing/outgoing_handler.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { MailToCompose } from "../composing/compose_mail.ts";
import type { MailBase } from "../core/mail_base.ts";
import { LONGEST_WAIT_MS, retryWaitMs } from "../mailbox/statuses/retry_times.ts";
import { makeUlid } from "../records/mail_id.ts";

export const OPERATOR_MAIL_KIND = "mail-operator";

/** A mail that is to be passed on. */
export interface OperatorPayload {
  v: 1;
  /** One section: its bytes. */
  blob: BlobRef;
  /** Of its envelope. */
  from: string;
  to: string;
}

export interface OperatorDeliveryOptions
  extends Pick<MailBase, "store" | "blobs" | "random" | "from"> {
  mailer: Mailer;
  /** Off the main thread. */
  composer: { compose(mail: MailToCompose, owner: string): Promise<Uint8Array> };
  /** RELAY_MAIL_POSTMASTER. */
  operator: string;
}

/** Whose turn its mails take. */
const OWNER = "operator";
/** One large mail at a time: they are read and composed whole. */
const CONCURRENCY = 1;
/** How long it is tried. */
export const OPERATOR_TRIED_MS = 2 * DAY_MS;

/** What the outgoing queue does with mail for the operator. */
export function operatorDelivery(
  options: OperatorDeliveryOptions,
): OutgoingHandler<OperatorPayload> {
  const { blobs } = options;
  return {
    kind: OPERATOR_MAIL_KIND,
    concurrency: CONCURRENCY,
    oneNextHop: true,
    longestPauseMs: LONGEST_WAIT_MS,
    attempt: (item) => attempt(options, item),
    extraWrites: ({ payload, result }) =>
      result === "retry" ? null : (transaction) => blobs.drop(transaction, payload.blob),
  };
}

async function attempt(
  options: OperatorDeliveryOptions,
  item: OutgoingItem<OperatorPayload>,
): Promise<AttemptOutcome<OperatorPayload>> {
  const { store, blobs, mailer, composer, from, operator } = options;
  const trying = { fromMs: item.queuedAtMs, lengthMs: OPERATOR_TRIED_MS };
  if (isGivenUp(item, trying, store)) {
    return { result: "dead", reason: "expired", untried: true };
  }
  let raw: Uint8Array<ArrayBuffer>;
  try {
    raw = await blobs.read(item.payload.blob, 0);
  } catch (error) {
    if (error instanceof BlobDamaged) return { result: "dead", reason: "damaged", untried: true };
    throw error;
  }
  const content = await composer.compose(operatorMail(options, item, raw), OWNER);
  const outcome = await mailer.send({ from: from.address, to: operator, content }, {
    signal: item.signal,
    beforeContent: () => item.commitData(),
  });
  const afterMs = retryWaitMs(item.attempts, store.random(1)[0]! / 256);
  return afterwards(outcome, { afterMs, endsAtMs: givenUpAtMs(item, trying, store) });
}

function operatorMail(
  { random, from, operator }: OperatorDeliveryOptions,
  { payload, queuedAtMs }: OutgoingItem<OperatorPayload>,
  raw: Uint8Array<ArrayBuffer>,
): MailToCompose {
  const id = makeUlid(queuedAtMs, random).toLowerCase();
  return {
    from,
    to: [{ name: null, address: operator }],
    cc: [],
    replyTo: [],
    subject: `Mail to ${payload.to}`,
    text: "This relay received the attached message for you. Its envelope, as it came:\n\n" +
      `from: ${payload.from === "" ? "(nobody)" : payload.from}\nto: ${payload.to}\n\n` +
      "A stranger may have written it: the file is as it came, whatever is in it.\n",
    html: null,
    // Not message/rfc822: what reads mail on the way would take it apart.
    attachments: [{
      filename: "message.eml",
      contentType: "application/octet-stream",
      contentId: null,
      content: raw,
    }],
    headers: [],
    messageId: `${id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}`,
    dateMs: queuedAtMs,
    inReplyTo: null,
    references: [],
    autoSubmitted: null,
    boundary: random(16).toHex(),
    dkim: null,
  };
}

function afterwards(
  outcome: MailOutcome,
  again: { afterMs: number; endsAtMs: number },
): AttemptOutcome<OperatorPayload> {
  const { result, reason } = outcome;
  if (result === "sent") return { result: "done" };
  if (result === "unknown") return { result: "unknown", reason: `unknown: ${reason}` };
  const isAboutMail = outcome.stage === "recipient" || outcome.stage === "content";
  if (outcome.permanent && isAboutMail) return { result: "dead", reason: `refused: ${reason}` };
  const unreachable = outcome.stage === "connection";
  return { result: "retry", reason, ...again, unreachable, deferred: isDeferral(outcome) };
}
