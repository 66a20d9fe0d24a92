/** Every route of the service, in the order in which a reader meets them. */
import { describeAll } from "./base/description/declaration.ts";
import type { Operation, Setting } from "./base/description/operation.ts";
import { readDescription, readLimits } from "./base/description/routes.ts";
import { readPageFile } from "./base/pages/asset_route.ts";
import { CUSTODY_ROUTES } from "./messaging/custody/routes.ts";
import { DOCS_ROUTES } from "./web/docs/part.ts";
import { directoryOperations } from "./messaging/directory/operations.ts";
import { AGENT_ROUTES } from "./messaging/agents/routes.ts";
import { MAIL_ROUTES } from "./mail/routes.ts";
import { MESSAGE_ROUTES } from "./messaging/messages/routes.ts";
import { HEALTH_ROUTES } from "./process/health.ts";
import { NETWORK_OPERATIONS } from "./messaging/network/operations.ts";
import { NOTIFICATION_OPERATIONS } from "./messaging/digest/operations.ts";
import { OPERATOR_ROUTES } from "./messaging/operator/routes.ts";
import { PROFILE_ROUTES } from "./messaging/profiles/routes.ts";
import { readHome } from "./web/site/home_route.ts";
import { SITE_ROUTES } from "./web/site/part.ts";
import { TOOL_ROUTES } from "./messaging/tools/routes.ts";

export function describeOperations(setting: Setting): Operation[] {
  return [
    ...describeAll(AGENT_ROUTES, setting),
    ...describeAll(PROFILE_ROUTES, setting),
    ...describeAll(MESSAGE_ROUTES, setting),
    ...directoryOperations(setting),
    ...describeAll(CUSTODY_ROUTES, setting),
    ...NOTIFICATION_OPERATIONS,
    ...NETWORK_OPERATIONS,
    ...describeAll(TOOL_ROUTES, setting),
    ...describeAll(
      [readHome, readLimits, ...HEALTH_ROUTES, readDescription, readPageFile],
      setting,
    ),
    ...describeAll(DOCS_ROUTES, setting),
    ...describeAll(SITE_ROUTES, setting),
    ...describeAll(OPERATOR_ROUTES, setting),
    ...describeAll(MAIL_ROUTES, setting),
  ];
}
