/** What delivers the mail area's messages, put together. */
import type { Blobs } from "../../blobs/blobs.ts";
import type { MailConfig } from "../../config.ts";
import type { Limits } from "../../limits.ts";
import type { Mailer } from "../../outgoing/mailer.ts";
import type { OutgoingQueue } from "../../outgoing/outgoing_queue.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import type { Store } from "../../storage/store.ts";
import { makeBounceAddress } from "../composing/bounce_address.ts";
import type { Mailboxes } from "../mailboxes/mailboxes.ts";
import type { Receiver } from "../receiving/receiver.ts";
import type { MailSecret } from "../secret/mail_secret.ts";
import { BounceReports } from "./bounce_reports.ts";
import { deliverInside } from "./deliver_inside.ts";
import { mailDelivery } from "./mail_delivery.ts";
import { RecipientChanges, type RecipientChangeServices } from "./recipient_change.ts";

export interface DeliveryServices {
  store: Store;
  records: Pick<RecordCache, "read">;
  mailboxes: Mailboxes;
  blobs: Blobs;
  limits: Limits;
  secret: Pick<MailSecret, "key">;
  changes: RecipientChanges;
  receiver: Pick<Receiver, "receive">;
  outgoing: OutgoingQueue;
  mailer: Mailer;
  config: Pick<MailConfig, "connections" | "bounces"> & {
    domain: string;
    from: { address: string };
  };
}

export interface Reports {
  /** Changes recipients by what is reported of them. */
  changes: RecipientChanges;
  /** Takes mail to bounce addresses. */
  reports: BounceReports;
}

/** Connections to the next hop that are kept for notices. */
const FOR_NOTICES = 2;

/** What takes reports. The receiver needs it, and delivery inside the relay needs the receiver. */
export function openReports(services: RecipientChangeServices): Reports {
  const changes = new RecipientChanges(services);
  return { changes, reports: new BounceReports({ store: services.store, changes }) };
}

/** Registers mails with the outgoing queue, before that is started. */
export function openDelivery(services: DeliveryServices): void {
  const { secret, receiver, outgoing, config } = services;
  const { domain, from, bounces, connections } = config;
  outgoing.register(mailDelivery({
    ...services,
    domain,
    concurrency: connections - FOR_NOTICES,
    deliverInside: deliverInside(receiver, domain),
    async envelopeSender(messageId, recipient) {
      // Some providers refuse senders that are not the account's own.
      if (!bounces) return from.address;
      return makeBounceAddress({ messageId, recipient }, domain, await secret.key("mail-bounce"));
    },
  }));
}
