/** The tool server of the mail area, as a part of it. */
import type { Route } from "../../base/http/routes/route.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { MessagePages } from "../mailbox/messages/message_pages.ts";
import type { MailSearch } from "../search/mail_search.ts";
import type { SenderPart, Sending } from "../sending/part.ts";
import { mailToolRoute } from "./tool_routes.ts";

export interface MailToolsOptions {
  senderPart: SenderPart;
  sending: Sending;
  search: MailSearch;
}

export function openMailTools(
  core: MailCore,
  { senderPart, sending, search }: MailToolsOptions,
): { tools: Route } {
  const { store, messages, inFlight, limits, deps: { config, log } } = core;
  const pageBytes = limits.toolPageBytes;
  return {
    tools: mailToolRoute({
      ...core,
      ...senderPart,
      ...sending,
      search,
      messagePages: new MessagePages({ store, messages, inFlight, pageBytes }),
      config,
      log,
    }),
  };
}
