/** Delivery as a part of the mail area: to the next hop, and to its own inboxes. */
import { forMail } from "../../../base/mailer/next_hop_uses.ts";
import { makeBounceAddress } from "../../composing/bounce_address.ts";
import type { Part } from "../../../base/parts/part.ts";
import type { MailCore } from "../../mailbox/mail_core.ts";
import type { Receiver } from "../../receiving/receiver.ts";
import { deliverInside } from "./deliver_inside.ts";
import { mailDelivery } from "./mail_delivery.ts";
import type { RecipientChanges } from "../../receiving/reports/recipient_changes.ts";

export interface DeliveryOptions {
  changes: RecipientChanges;
  /** Takes what goes to inboxes of this relay. */
  receiver: Pick<Receiver, "receive">;
}

export function openDelivery(core: MailCore, { changes, receiver }: DeliveryOptions): Part {
  const { secret, outgoing, mailer, domain, from, deps: { config } } = core;
  if (mailer === undefined) return {};
  const { bounces, connections } = config.mail;
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
  return {};
}
