/** Delivery as a part of the mail area: to the next hop, to its own inboxes, and what is reported of it. */
import { forMail } from "../../outgoing/next_hop_uses.ts";
import { makeBounceAddress } from "../composing/bounce_address.ts";
import type { MailCore, MailPart } from "../mail_core.ts";
import type { MailWorker } from "../parsing/mail_worker.ts";
import type { Receiver } from "../receiving/receiver.ts";
import { BounceReports } from "./bounce_reports.ts";
import { deliverInside } from "./deliver_inside.ts";
import { DeliveryEvents } from "./delivery_events.ts";
import { mailDelivery } from "./mail_delivery.ts";
import { RecipientChanges, type RecipientChangeServices } from "./recipient_changes.ts";
import { deliveryHandlers } from "./routes.ts";

export interface Reports {
  /** Changes recipients by what is reported of them. */
  changes: RecipientChanges;
  /** Takes mail to bounce addresses. */
  reports: BounceReports;
}

export interface DeliveryOptions {
  changes: RecipientChanges;
  /** Takes what goes to inboxes of this relay. */
  receiver: Pick<Receiver, "receive">;
  /** Of the operator's gateway, which reports too; null where there is none. */
  inboundSecret: Uint8Array | null;
}

/** What takes reports. The receiver needs it, and delivery inside the relay needs the receiver. */
export function openReports(
  services: RecipientChangeServices & { reader: Pick<MailWorker, "readReport"> },
): Reports {
  const { store, reader } = services;
  const changes = new RecipientChanges(services);
  const readReport = reader.readReport.bind(reader);
  return { changes, reports: new BounceReports({ store, changes, readReport }) };
}

export function openDelivery(
  core: MailCore,
  { changes, receiver, inboundSecret }: DeliveryOptions,
): MailPart {
  const { store, secret, outgoing, mailer, domain, from, deps: { config } } = core;
  const { bounces, connections } = config.mail;
  if (mailer !== undefined) {
    const handlers = mailDelivery({
      ...core,
      changes,
      mailer,
      concurrency: forMail(connections),
      deliverInside: deliverInside(receiver, domain),
      async envelopeSender(messageId, recipient) {
        // Some providers refuse senders that are not the account's own.
        if (!bounces) return from.address;
        const key = await secret.key("mail-bounce");
        return makeBounceAddress({ messageId, recipient }, domain, key);
      },
    });
    for (const handler of handlers) outgoing.register(handler);
  }
  const events = new DeliveryEvents({ store, changes });
  return { handlers: deliveryHandlers({ ...core, events, inboundSecret }) };
}
