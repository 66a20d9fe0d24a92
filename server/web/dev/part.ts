/** Local mode (RELAY_MAIL_DEV) as a part of the relay: a next hop that sends nothing, and its pages. */
import type { Deps } from "../../base/parts/deps.ts";
import type { Mailer } from "../../base/mailer/mailer.ts";
import type { Part } from "../../base/parts/part.ts";
import { startupNote } from "../../base/config/startup_notes.ts";
import { createCaptureMailer } from "./capture_mailer.ts";
import { CapturedMails } from "./captured_mails.ts";
import { CapturedReader } from "./captured_reader.ts";
import type { HandIn, MailToHandIn } from "./hand_in.ts";
import { type LocalWebhooks, NO_WEBHOOKS } from "./local_webhooks.ts";
import { localRoutes } from "./routes.ts";
import { webhookRoutes } from "./webhook_routes.ts";

/** A mail that came, by whatever way, and what became of it. */
export interface ReceivedMail extends MailToHandIn {
  /** By address: null where an inbox has it, else why none has. */
  outcomes: readonly { address: string; code: string | null }[];
}

export interface LocalMode {
  /** Keeps what it is given. */
  mailer: Mailer;
  /** Keeps what came for the inboxes here. */
  onReceived(mail: ReceivedMail): void;
  /**
   * Its pages: a second step, since the mail area is built on the mailer.
   * @param handIn null where the mail area is off
   * @param webhooks of the mail area
   */
  open(handIn: HandIn | null, webhooks?: LocalWebhooks): Part;
}

/** Null for a relay that is not in local mode. */
export function openLocalMode(
  { config, now, random }: Pick<Deps, "config" | "now" | "random">,
): LocalMode | null {
  const { baseUrl, mail: { local, domain } } = config;
  if (!local) return null;
  const mails = new CapturedMails();
  const reader = new CapturedReader();
  return {
    onReceived({ from, to, raw, outcomes }) {
      const codes = [...new Set(outcomes.flatMap(({ code }) => code ?? []))];
      const isTaken = outcomes.some(({ code }) => code === null);
      const result = isTaken ? "received" : "rejected";
      const told = { atMs: now(), result, reason: codes.join(", ") } as const;
      // It waits for nothing: who sent the mail is answered first.
      void reader.read(raw).then((content) =>
        void mails.addReceived({ from, to: to.join(", "), raw }, { ...told, content })
      ).catch(() => {});
    },
    mailer: createCaptureMailer(mails, now, (raw) => reader.read(raw)),
    open(handIn, webhooks = NO_WEBHOOKS) {
      const receiver = webhookRoutes({ webhooks, baseUrl, now });
      const captured = localRoutes({ mails, baseUrl, domain: domain!, handIn, now, random });
      return {
        routes: [...captured.routes, ...receiver.routes],
        endWaits() {
          receiver.endWaits();
          captured.endWaits();
        },
        close: () => reader.close(),
        notes: [
          startupNote(
            "local mode",
            `on: mail goes nowhere, what is sent is at ${baseUrl}/dev/mail`,
          ),
        ],
      };
    },
  };
}
