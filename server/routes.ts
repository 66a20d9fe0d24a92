/**
 * Every route of the service that the description has, in its reading order: pages with sessions of their own
 * are no part of the API.
 */
import type { Declaration } from "./base/description/declaration.ts";
import { readDescription, readLimits } from "./base/description/routes.ts";
import { readPageFile } from "./base/pages/asset_route.ts";
import { MAIL_ROUTES } from "./mail/routes.ts";
import { AGENT_ROUTES } from "./messaging/agents/routes.ts";
import { CUSTODY_ROUTES } from "./messaging/custody/routes.ts";
import { NOTIFICATION_ROUTES } from "./messaging/digest/routes.ts";
import { DIRECTORY_ROUTES } from "./messaging/directory/routes.ts";
import { MESSAGE_ROUTES } from "./messaging/messages/routes.ts";
import { NETWORK_ROUTES } from "./messaging/network/routes.ts";
import { OPERATOR_ROUTES } from "./messaging/operator/routes.ts";
import { PROFILE_ROUTES } from "./messaging/profiles/routes.ts";
import { TOOL_ROUTES } from "./messaging/tools/routes.ts";
import { HEALTH_ROUTES } from "./process/health.ts";
import { DOCS_ROUTES } from "./web/docs/part.ts";
import { readHome } from "./web/site/home_route.ts";
import { SITE_ROUTES } from "./web/site/part.ts";

export const ROUTES: readonly Declaration[] = [
  ...AGENT_ROUTES,
  ...PROFILE_ROUTES,
  ...MESSAGE_ROUTES,
  ...DIRECTORY_ROUTES,
  ...CUSTODY_ROUTES,
  ...NOTIFICATION_ROUTES,
  ...NETWORK_ROUTES,
  ...TOOL_ROUTES,
  readHome,
  readLimits,
  ...HEALTH_ROUTES,
  readDescription,
  readPageFile,
  ...DOCS_ROUTES,
  ...SITE_ROUTES,
  ...OPERATOR_ROUTES,
  ...MAIL_ROUTES,
];
