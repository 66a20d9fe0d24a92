/** Every route of the service, in the order in which a reader meets them. */
import type { Operation, Setting } from "../operation.ts";
import { CUSTODY_OPERATIONS } from "./custody.ts";
import { directoryOperations } from "./directory.ts";
import { identityOperations } from "./identity.ts";
import { MAIL_OPERATIONS } from "./mail.ts";
import { messageOperations } from "./messages.ts";
import { NETWORK_OPERATIONS } from "./network.ts";
import { NOTIFICATION_OPERATIONS } from "./notifications.ts";
import { OPERATOR_OPERATIONS } from "./operator.ts";
import { serviceOperations } from "./service.ts";
import { toolServerOperations } from "./tool_server.ts";

export function describeOperations(setting: Setting): Operation[] {
  return [
    ...identityOperations(setting),
    ...messageOperations(setting),
    ...directoryOperations(setting),
    ...CUSTODY_OPERATIONS,
    ...NOTIFICATION_OPERATIONS,
    ...NETWORK_OPERATIONS,
    ...toolServerOperations(setting),
    ...serviceOperations(setting),
    ...OPERATOR_OPERATIONS,
    ...MAIL_OPERATIONS,
  ];
}
