/** Hands mail for the operator to the next hop: each as a file, in a mail of the relay's own. */
import { BlobDamaged } from "../../base/blobs/blobs.ts";
import type { BlobRef, Blobs } from "../../base/blobs/blobs.ts";
import { noticeHandler, type NoticeServices } from "../../base/notices/notice_handler.ts";
import type { OutgoingHandler, OutgoingItem } from "../../base/outgoing/outgoing_handler.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { MailToCompose } from "../composing/compose_mail.ts";
import { MAIL_WAITS } from "../mailbox/statuses/retry_times.ts";
import { makeUlid } from "../records/mail_id.ts";

export const OPERATOR_MAIL_KIND = "mail-operator";

/** A mail that is to be passed on. */
export interface OperatorPayload {
  v: 1;
  /** One section: its bytes. */
  blob: BlobRef;
  /** Sender in its envelope. */
  from: string;
  to: string;
}

export interface OperatorDeliveryOptions extends NoticeServices {
  blobs: Pick<Blobs, "read" | "drop">;
  random: (sizeBytes: number) => Uint8Array;
  /** Off the main thread where it is large. */
  composer: { compose(mail: MailToCompose, owner: string): Promise<Uint8Array> };
  /** RELAY_MAIL_POSTMASTER. */
  operator: string;
}

/** The owner whose turns its mails take. */
const OWNER = "operator";
/** One large mail at a time: they are read and composed whole. */
const CONCURRENCY = 1;
/** How long it is tried. */
export const OPERATOR_TRIED_MS = 2 * DAY_MS;

/** What the outgoing queue does with mail for the operator. */
export function operatorDelivery(
  options: OperatorDeliveryOptions,
): OutgoingHandler<OperatorPayload> {
  const { blobs, composer, operator } = options;
  return noticeHandler<OperatorPayload, { raw: Uint8Array<ArrayBuffer> }>(options, {
    kind: OPERATOR_MAIL_KIND,
    concurrency: CONCURRENCY,
    waits: MAIL_WAITS,
    maxRefusals: 1,
    triedMs: OPERATOR_TRIED_MS,
    async read({ payload: { blob } }) {
      try {
        return { raw: await blobs.read(blob, 0) };
      } catch (error) {
        if (!(error instanceof BlobDamaged)) throw error;
        return { result: "dead", reason: "damaged", untried: true };
      }
    },
    compose: async ({ raw }, item) => ({
      to: operator,
      content: await composer.compose(operatorMail(options, item, raw), OWNER),
    }),
    extraWrites: ({ payload, result }) =>
      result === "retry" ? null : (transaction) => blobs.drop(transaction, payload.blob),
  });
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
