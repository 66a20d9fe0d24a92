/** The tool server of the mail area, as a part of it. */
import type { Route } from "../../http/route.ts";
import type { MailCore } from "../mail_core.ts";
import { MessagePages } from "../messages/message_pages.ts";
import type { MailSearch } from "../search/mail_search.ts";
import type { Outbound, Sending } from "../sending/part.ts";
import { mailToolRoute } from "./tool_routes.ts";

export interface MailToolsBeside {
  outbound: Outbound;
  sending: Sending;
  search: MailSearch;
}

export function openMailTools(
  core: MailCore,
  { outbound, sending, search }: MailToolsBeside,
): { tools: Route } {
  const { store, messages, sendings, limits, deps: { config, log } } = core;
  const pageBytes = limits.toolPageBytes;
  return {
    tools: mailToolRoute({
      ...core,
      ...outbound,
      ...sending,
      search,
      messagePages: new MessagePages({ store, messages, sendings, pageBytes }),
      config,
      log,
    }),
  };
}
