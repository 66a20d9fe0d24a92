/** Every route of the service, in the order in which a reader meets them. */
import { describeAll } from "./base/description/declaration.ts";
import type { Operation, Setting } from "./base/description/operation.ts";
import { CUSTODY_ROUTES } from "./messaging/custody/routes.ts";
import { DOCS_OPERATIONS } from "./web/docs/operations.ts";
import { DIRECTORY_ROUTES } from "./messaging/directory/routes.ts";
import { AGENT_ROUTES } from "./messaging/agents/routes.ts";
import { MAIL_ROUTES } from "./mail/routes.ts";
import { MESSAGE_ROUTES } from "./messaging/messages/routes.ts";
import { NETWORK_ROUTES } from "./messaging/network/routes.ts";
import { NOTIFICATION_ROUTES } from "./messaging/digest/routes.ts";
import { OPERATOR_OPERATIONS } from "./messaging/operator/operations.ts";
import { PROFILE_ROUTES } from "./messaging/profiles/routes.ts";
import { serviceOperations } from "./base/description/service_operations.ts";
import { SITE_OPERATIONS } from "./web/site/operations.ts";
import { toolServerOperations } from "./messaging/tools/operations.ts";

export function describeOperations(setting: Setting): Operation[] {
  return [
    ...describeAll(AGENT_ROUTES, setting),
    ...describeAll(PROFILE_ROUTES, setting),
    ...describeAll(MESSAGE_ROUTES, setting),
    ...describeAll(DIRECTORY_ROUTES, setting),
    ...describeAll(CUSTODY_ROUTES, setting),
    ...describeAll(NOTIFICATION_ROUTES, setting),
    ...describeAll(NETWORK_ROUTES, setting),
    ...toolServerOperations(setting),
    ...serviceOperations(setting),
    ...DOCS_OPERATIONS,
    ...SITE_OPERATIONS,
    ...OPERATOR_OPERATIONS,
    ...describeAll(MAIL_ROUTES, setting),
  ];
}
