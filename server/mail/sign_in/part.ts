/** The ways in by mail as a part of the mail area: links, and the mails that carry them. */
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { CLAIM_ROUTES } from "./claim_routes.ts";
import { linkDelivery } from "./link_delivery.ts";
import { MAGIC_ROUTES } from "./magic_routes.ts";

export function openSignIn(core: MailCore): Part {
  const { outgoing, mailer } = core;
  if (mailer !== undefined) outgoing.register(linkDelivery({ ...core, mailer }));
  return { routes: mount([...MAGIC_ROUTES, ...CLAIM_ROUTES], core) };
}
