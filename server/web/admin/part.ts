/** The operator's pages as a part of the relay. */
import type { Core } from "../../base/parts/core.ts";
import type { Part } from "../../base/parts/part.ts";
import { adminPageRoutes, type AdminPageServices } from "./routes.ts";

export function openAdminPages(
  { deps, clients, addressKey }: Core,
  { actions, status, mail }: Pick<AdminPageServices, "actions" | "status" | "mail">,
): Part {
  const { config: { adminToken, baseUrl }, now, random, log } = deps;
  const settings = { adminToken, baseUrl, clients, addressKey };
  return { routes: adminPageRoutes({ ...settings, actions, status, mail, now, random, log }) };
}
