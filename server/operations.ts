/** Every route of the service, in the order in which a reader meets them. */
import { describeAll } from "./base/description/declaration.ts";
import type { Operation, Setting } from "./base/description/operation.ts";
import { CUSTODY_ROUTES } from "./messaging/custody/routes.ts";
import { DOCS_OPERATIONS } from "./web/docs/operations.ts";
import { directoryOperations } from "./messaging/directory/operations.ts";
import { AGENT_ROUTES } from "./messaging/agents/routes.ts";
import { MAIL_ROUTES } from "./mail/routes.ts";
import { MESSAGE_ROUTES } from "./messaging/messages/routes.ts";
import { NETWORK_OPERATIONS } from "./messaging/network/operations.ts";
import { NOTIFICATION_OPERATIONS } from "./messaging/digest/operations.ts";
import { OPERATOR_ROUTES } from "./messaging/operator/routes.ts";
import { PROFILE_ROUTES } from "./messaging/profiles/routes.ts";
import { serviceOperations } from "./base/description/service_operations.ts";
import { SITE_OPERATIONS } from "./web/site/operations.ts";
import { toolServerOperations } from "./messaging/tools/operations.ts";

export function describeOperations(setting: Setting): Operation[] {
  return [
    ...describeAll(AGENT_ROUTES, setting),
    ...describeAll(PROFILE_ROUTES, setting),
    ...describeAll(MESSAGE_ROUTES, setting),
    ...directoryOperations(setting),
    ...describeAll(CUSTODY_ROUTES, setting),
    ...NOTIFICATION_OPERATIONS,
    ...NETWORK_OPERATIONS,
    ...toolServerOperations(setting),
    ...serviceOperations(setting),
    ...DOCS_OPERATIONS,
    ...SITE_OPERATIONS,
    ...describeAll(OPERATOR_ROUTES, setting),
    ...describeAll(MAIL_ROUTES, setting),
  ];
}
