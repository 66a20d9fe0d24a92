/** The mailbox for the person behind an org, as a part of the relay. */
import { mount } from "../../base/description/declaration.ts";
import type { Core } from "../../base/parts/core.ts";
import type { Part } from "../../base/parts/part.ts";
import type { MailConsole } from "../../mail/part.ts";
import type { AskRelay } from "./mail_api.ts";
import { FILE_ROUTES } from "./file_routes.ts";
import { MAIL_ROUTES } from "./mail_routes.ts";
import { ORG_ROUTES } from "./org_routes.ts";
import { SIGN_IN_ROUTES } from "./sign_in_routes.ts";
import { WAITING_ROUTES } from "./draft_routes.ts";
import { WRITE_ROUTES } from "./write_routes.ts";

export const CONSOLE_ROUTES = [
  ...SIGN_IN_ROUTES,
  ...MAIL_ROUTES,
  ...FILE_ROUTES,
  ...WRITE_ROUTES,
  ...WAITING_ROUTES,
  ...ORG_ROUTES,
];

/**
 * @param mail null where the mail area is off: its pages then say so
 * @param ask answers what the pages ask of the API
 */
export function openConsole(core: Core, mail: MailConsole | null, ask: AskRelay): Part {
  return { routes: mount(CONSOLE_ROUTES, { ...core, mail, ask }) };
}
