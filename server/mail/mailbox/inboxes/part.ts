/** Inboxes as a part of the mail area. */
import { mount } from "../../../base/description/declaration.ts";
import type { Part } from "../../../base/parts/part.ts";
import { INBOX_ROUTES, type InboxServices } from "./routes.ts";

export function openInboxes(services: InboxServices): Part {
  return { routes: mount(INBOX_ROUTES, services) };
}
