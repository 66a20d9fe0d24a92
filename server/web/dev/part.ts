/** Local mode (RELAY_MAIL_DEV) as a part of the relay: a next hop that sends nothing, and its pages. */
import type { Deps } from "../../base/parts/deps.ts";
import type { Mailer } from "../../base/mailer/mailer.ts";
import type { Part } from "../../base/parts/part.ts";
import { startupNote } from "../../base/config/startup_notes.ts";
import { createCaptureMailer } from "./capture_mailer.ts";
import { CapturedMails } from "./captured_mails.ts";
import { CapturedReader } from "./captured_reader.ts";
import type { HandIn } from "./hand_in.ts";
import { type LocalWebhooks, NO_WEBHOOKS } from "./local_webhooks.ts";
import { localRoutes } from "./routes.ts";
import { webhookRoutes } from "./webhook_routes.ts";

export interface LocalMode {
  /** Keeps what it is given. */
  mailer: Mailer;
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
    mailer: createCaptureMailer(mails, now, (raw) => reader.read(raw)),
    open(handIn, webhooks = NO_WEBHOOKS) {
      const receiver = webhookRoutes({ webhooks, baseUrl, now });
      const captured = localRoutes({ mails, baseUrl, domain: domain!, handIn, now, random });
      return {
        routes: [...captured, ...receiver.routes],
        endWaits: () => receiver.endWaits(),
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
