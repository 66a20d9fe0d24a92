/** BRIDGE, to be deleted with paths.ts: declarations made of its rows, handlers by id, and words apart. */
import type { MountServices } from "../base/description/declaration.ts";
import type { Route } from "../base/http/routes/route.ts";
import type { Limits } from "../base/config/limits.ts";
import { isKeyAccess } from "./access/access.ts";
import { deliveryRoutes } from "./receiving/reports/operations.ts";
import { figureRoutes } from "./figures/operations.ts";
import { googleRoutes } from "./sign_in/google/operations.ts";
import {
  keyRoute,
  type KeyRouteServices,
  type MailDeclaration,
  type MailRequest,
  openRoute,
  operatorRoute,
  type OperatorServices,
  toolServerRoute,
} from "./access/mail_route.ts";
import { messageRoutes } from "./mailbox/messages/operations.ts";
import { orgRoutes } from "./orgs/operations.ts";
import * as row from "./access/paths.ts";
import { receivingRoutes } from "./receiving/operations.ts";
import { searchRoutes } from "./search/operations.ts";
import { signInRoutes } from "./sign_in/operations.ts";
import { mailToolServer } from "./tools/operations.ts";

export type FormerServices = MountServices & KeyRouteServices & OperatorServices & {
  handlers: row.MailHandlers;
  tools: Route;
};

export type FormerRoutes = readonly MailDeclaration<FormerServices>[];

function former(
  rows: readonly row.MailPath[],
  describe: (limits: Limits) => row.DescribedRoutes,
): FormerRoutes {
  return rows.map((path) => declareFormer(path, once(describe)));
}

const EVENTS_BYTES = 1024 * 1024;

function declareFormer(
  { id, method, access, bodyLimit, pages, expiredTrial, ...facts }: row.MailPath,
  describe: (limits: Limits) => row.DescribedRoutes,
): MailDeclaration<FormerServices> {
  const said = {
    ...facts,
    id,
    method: method.toUpperCase() as Uppercase<typeof method>,
    bodyLimit: bodyLimit === "mailEventsBytes" ? EVENTS_BYTES : bodyLimit,
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
  if (access === "tools") {
    return toolServerRoute({
      ...said,
      serve: (on: FormerServices) => on.tools,
    });
  }
  if (access === "adminToken") return operatorRoute({ ...said, handle });
  return openRoute({ ...said, may: access, handle });
}

/** The same words for all routes of a part, as long as the limits are the same. */
function once(
  describe: (limits: Limits) => row.DescribedRoutes,
): (limits: Limits) => row.DescribedRoutes {
  let last: { limits: Limits; described: row.DescribedRoutes } | undefined;
  return (limits) =>
    (last?.limits === limits ? last : last = { limits, described: describe(limits) }).described;
}

export const ORG_ROUTES = former(row.ORG, orgRoutes);
export const GOOGLE_ROUTES = former(row.GOOGLE, googleRoutes);
export const SIGN_IN_ROUTES = former(row.SIGN_IN, signInRoutes);
export const MESSAGE_ROUTES = former(row.MESSAGES, messageRoutes);
export const THREAD_ROUTES = former(row.THREADS, messageRoutes);
export const SEARCH_ROUTES = former(row.SEARCH, searchRoutes);
export const FIGURE_ROUTES = former(row.FIGURES, figureRoutes);
export const RECEIVING_ROUTES = former(row.RECEIVING, receivingRoutes);
export const EVENT_ROUTES = former(row.EVENTS, deliveryRoutes);
export const SUSPENSION_ROUTES = former(row.SUSPENSION, orgRoutes);
export const TOOL_ROUTES = former(row.TOOLS, mailToolServer);

/** In the order of their paths; every part mounts its own when all are declared in one place. */
export const FORMER_ROUTES: FormerRoutes = [
  ...ORG_ROUTES,
  ...GOOGLE_ROUTES,
  ...SIGN_IN_ROUTES,
  ...MESSAGE_ROUTES,
  ...THREAD_ROUTES,
  ...SEARCH_ROUTES,
  ...FIGURE_ROUTES,
  ...RECEIVING_ROUTES,
  ...EVENT_ROUTES,
  ...SUSPENSION_ROUTES,
  ...TOOL_ROUTES,
];
