/** The page of the person behind an agent, as a part of the relay. */
import type { Part } from "../../base/parts/part.ts";
import { inboxPageRoutes, type InboxPageServices } from "./routes.ts";

export function openInboxPage(services: InboxPageServices): Part {
  return { routes: inboxPageRoutes(services) };
}
