/** The ways in by mail as a part of the mail area: links, and the mails that carry them. */
import type { MailPart } from "../core/mail_base.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { linkDelivery } from "./link_delivery.ts";
import { signInHandlers } from "./routes.ts";

export function openSignIn(core: MailCore): MailPart {
  const { outgoing, mailer } = core;
  if (mailer !== undefined) outgoing.register(linkDelivery({ ...core, mailer }));
  return { handlers: signInHandlers(core) };
}
