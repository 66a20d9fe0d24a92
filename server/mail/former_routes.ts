/** BRIDGE, to be deleted with paths.ts: declarations made of its rows, handlers by id, and words apart. */
import type { MountServices } from "../base/description/declaration.ts";
import type { Limits } from "../base/config/limits.ts";
import { isKeyAccess } from "./access/access.ts";
import { draftRoutes } from "./drafts/operations.ts";
import {
  keyRoute,
  type KeyRouteServices,
  type MailDeclaration,
  type MailRequest,
  openRoute,
  operatorRoute,
  type OperatorServices,
} from "./access/mail_route.ts";
import * as row from "./access/paths.ts";
import { sendingRoutes } from "./sending/operations.ts";

export type FormerServices = MountServices & KeyRouteServices & OperatorServices & {
  handlers: row.MailHandlers;
};

export type FormerRoutes = readonly MailDeclaration<FormerServices>[];

function former(
  rows: readonly row.MailPath[],
  describe: (limits: Limits) => row.DescribedRoutes,
): FormerRoutes {
  return rows.map((path) => declareFormer(path, once(describe)));
}

function declareFormer(
  { id, method, access, bodyLimit, pages, expiredTrial, ...facts }: row.MailPath,
  describe: (limits: Limits) => row.DescribedRoutes,
): MailDeclaration<FormerServices> {
  const said = {
    ...facts,
    id,
    method: method.toUpperCase() as Uppercase<typeof method>,
    bodyLimit,
    ...(pages === true ? { pages } : {}),
    words: ({ limits }: { limits: Limits }) => describe(limits)[id]!,
  };
  const handle = ({ handlers }: FormerServices) =>
    handlers[id] as (request: MailRequest) => Promise<Response>;
  if (isKeyAccess(access)) {
    return keyRoute({
      ...said,
      may: access,
      handle,
      expiredTrial: expiredTrial ? true : undefined,
    });
  }
  if (access === "adminToken") return operatorRoute({ ...said, handle });
  return openRoute({ ...said, may: "public", handle });
}

/** The same words for all routes of a part, as long as the limits are the same. */
function once(
  describe: (limits: Limits) => row.DescribedRoutes,
): (limits: Limits) => row.DescribedRoutes {
  let last: { limits: Limits; described: row.DescribedRoutes } | undefined;
  return (limits) =>
    (last?.limits === limits ? last : last = { limits, described: describe(limits) }).described;
}

export const SEND_ROUTES = former(row.SEND, sendingRoutes);
export const ANSWERING_ROUTES = former(row.ANSWERING, sendingRoutes);
export const DRAFT_ROUTES = former(row.DRAFTS, draftRoutes);
export const APPROVAL_ROUTES = former(row.APPROVAL, draftRoutes);

/** In the order of their paths; every part mounts its own when all are declared in one place. */
export const FORMER_ROUTES: FormerRoutes = [
  ...SEND_ROUTES,
  ...ANSWERING_ROUTES,
  ...DRAFT_ROUTES,
  ...APPROVAL_ROUTES,
];
