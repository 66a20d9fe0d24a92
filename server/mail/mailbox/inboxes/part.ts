/** Inboxes as a part of the mail area. */
import { mount } from "../../../base/description/declaration.ts";
import type { MailPart } from "../../core/mail_base.ts";
import { INBOX_ROUTES, type InboxServices } from "./routes.ts";

export function openInboxes(services: InboxServices): MailPart {
  return { routes: mount(INBOX_ROUTES, services) };
}
