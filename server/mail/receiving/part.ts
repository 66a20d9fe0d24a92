/** The way in as a part of the mail area: from a gateway, from inboxes of the relay, and by hand. */
import { mount } from "../../base/description/declaration.ts";
import type { RepetitionKind } from "../../base/idempotency/repetition_sweep.ts";
import type { Auth } from "./sender_checks/part.ts";
import type { Reports } from "./reports/part.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { Destinations } from "./destinations.ts";
import { operatorDelivery, type OperatorDeliveryOptions } from "./operator_delivery.ts";
import { OPERATOR_MAILS, OperatorMail } from "./operator_mail.ts";
import type { ReceivedMail } from "./received_mail.ts";
import { Receiver } from "./receiver.ts";
import { GATEWAY_ANSWERS } from "./remembered_answers.ts";
import { REPEATED_MAILS } from "./repeats.ts";
import { RECEIVING_ROUTES } from "./routes.ts";
import { type ReceivingResult, resultOf } from "./receiving_result.ts";

export interface ReceivingOptions {
  /** Checks senders. */
  auth: Pick<Auth, "check">;
  /** Takes what comes to bounce addresses. */
  reports: Reports["reports"];
  /** Secret of the operator's gateway; null where there is none. */
  inboundSecret: Uint8Array | null;
  composer: OperatorDeliveryOptions["composer"];
}

export interface Receiving extends Part {
  repetitions: readonly RepetitionKind[];
  receiver: Receiver;
  /** Takes a mail whose client is unknown. */
  handIn(mail: Pick<ReceivedMail, "from" | "to" | "raw">): Promise<ReceivingResult>;
}

export function openReceiving(
  core: MailCore,
  { auth, reports, inboundSecret, composer }: ReceivingOptions,
): Receiving {
  const { outgoing, mailer, from, deps: { config } } = core;
  const operator = config.mail.postmaster ?? from.address;
  if (mailer !== undefined) {
    outgoing.register(operatorDelivery({ ...core, mailer, composer, operator }));
  }
  const receiver = new Receiver({
    ...core,
    destinations: new Destinations({
      ...core,
      reports,
      operatorMail: new OperatorMail({ ...core, from: from.address }),
    }),
    auth,
  });
  return {
    receiver,
    repetitions: [GATEWAY_ANSWERS, OPERATOR_MAILS, REPEATED_MAILS],
    async handIn(mail) {
      const { outcomes } = await receiver.receive({ ...mail, clientIp: null, clientHelo: null });
      return resultOf(outcomes);
    },
    routes: mount(RECEIVING_ROUTES, { ...core, receiver, inboundSecret }),
  };
}
