/** Webhooks as a part of the mail area: routes, deliveries, and what is left of events. */
import type { MailConfig } from "../../base/config/mail_config.ts";
import { startupNote } from "../../base/config/startup_notes.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Outside } from "../../base/outside/outside.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { localWebhooks } from "./local_webhooks.ts";
import { disabledNotices } from "./disabled_notice.ts";
import { eventMaking } from "./event_making.ts";
import { EventSweep } from "./event_sweep.ts";
import { WEBHOOK_ROUTES } from "./routes.ts";
import { webhookDelivery } from "./webhook_delivery.ts";
import { Webhooks } from "./webhooks.ts";
import { WebhookSecrets } from "./webhook_secrets.ts";

export interface WebhooksPart extends Part {
  /** What local mode shows of them. */
  shown: ReturnType<typeof localWebhooks>;
}

export function openWebhooks(
  core: MailCore,
  outside: Pick<Outside, "post" | "requireUrl" | "refusal">,
): WebhooksPart {
  const { outgoing, mailer, deps: { config: { mail }, log } } = core;
  const secrets = new WebhookSecrets(core);
  const webhooks = new Webhooks({ ...core, secrets });
  const isOn = mail.webhooks;
  const { refusal: off } = outside;
  outgoing.register(eventMaking({ ...core, isOn }));
  // What a refusal holds up waits for its operator; what he has switched off is dropped.
  if (!isOn || off === null) {
    outgoing.register(webhookDelivery({ ...core, secrets, outside: isOn ? outside : null }));
  }
  if (mailer !== undefined) {
    const { connections } = mail;
    outgoing.register(disabledNotices({ ...core, mailer, connections }));
  }
  const sweep = new EventSweep({ ...core, log });
  const requireUrl = (url: string) => outside.requireUrl(url);
  return {
    shown: localWebhooks({ ...core, webhooks, secrets }),
    routes: mount(WEBHOOK_ROUTES, { ...core, webhooks, requireUrl, off }),
    notes: [
      startupNote("webhooks", off === null ? onNote(mail) : `off, nothing is delivered: ${off}`),
    ],
    start: () => sweep.begin(),
    everyMinute: () => sweep.run(),
    close: () => sweep.close(),
  };
}

function onNote({ allowLoopbackWebhooks, local }: MailConfig): string {
  if (local) return "on: to this machine alone, as local mode delivers nothing outside";
  return allowLoopbackWebhooks ? "on: to public hosts, and to this machine" : "on: to public hosts";
}
