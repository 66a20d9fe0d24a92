/** The operator's pages as a part of the relay. */
import type { Core } from "../../base/parts/core.ts";
import type { Part } from "../../base/parts/part.ts";
import type { OperatorActions } from "../../messaging/operator/operator_actions.ts";
import type { RelayStatus } from "./relay_status.ts";
import { adminPageRoutes } from "./routes.ts";

export function openAdminPages(
  { deps, clients, addressKey }: Core,
  { actions, status }: { actions: OperatorActions; status: RelayStatus },
): Part {
  const { config: { adminToken, baseUrl }, now, random, log } = deps;
  const settings = { adminToken, baseUrl, clients, addressKey };
  return { routes: adminPageRoutes({ ...settings, actions, status, now, random, log }) };
}
