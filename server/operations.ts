/** Every route of the service, in the order in which a reader meets them. */
import { describeAll } from "./description/declaration.ts";
import type { Operation, Setting } from "./description/operation.ts";
import { CUSTODY_ROUTES } from "./custody/routes.ts";
import { DOCS_OPERATIONS } from "./docs/operations.ts";
import { directoryOperations } from "./directory/operations.ts";
import { AGENT_ROUTES } from "./agents/routes.ts";
import { MAIL_ROUTES } from "./mail/routes.ts";
import { MESSAGE_ROUTES } from "./messages/routes.ts";
import { NETWORK_OPERATIONS } from "./network/operations.ts";
import { NOTIFICATION_OPERATIONS } from "./digest/operations.ts";
import { OPERATOR_OPERATIONS } from "./admin/operations.ts";
import { PROFILE_ROUTES } from "./profiles/routes.ts";
import { serviceOperations } from "./description/service_operations.ts";
import { SITE_OPERATIONS } from "./site/operations.ts";
import { toolServerOperations } from "./mcp/operations.ts";

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
    ...OPERATOR_OPERATIONS,
    ...describeAll(MAIL_ROUTES, setting),
  ];
}
