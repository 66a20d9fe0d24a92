/** Routes of the relay's operator (specification, 4.5): the body comes first, then the token, then what the body says. */
import type { Context } from "hono";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import {
  type Declaration,
  declareRoute,
  type MountServices,
  type RouteFacts,
  type RouteWords,
} from "../../base/description/declaration.ts";
import { requireAdmin } from "../../base/http/callers/require_admin.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { HttpEnv } from "../../base/http/routes/route.ts";
import type { Deps } from "../../base/parts/deps.ts";

export interface AdminRoute<Services>
  extends Omit<RouteFacts, "tag" | "page" | "cors" | "ownCors"> {
  words: RouteWords;
  /** `request` is what the body says; empty of a route that takes none. */
  handle: (
    services: Services,
  ) => (c: Context<HttpEnv>, request: JsonObject) => Promise<Response>;
}

export function adminRoute<Services>(
  { handle, words, ...facts }: AdminRoute<Services>,
): Declaration<Services & MountServices & { deps: Pick<Deps, "config"> }> {
  const errors = {
    unknown_token: "the admin token is missing or wrong, or none is configured",
    ...words.errors,
  };
  return declareRoute<Services & { deps: Pick<Deps, "config"> }>({
    ...facts,
    tag: "Operator",
    access: ["adminToken"],
    cors: "none",
    pool: "messages",
    words: { ...words, errors },
  }, (services) => {
    const { adminToken } = services.deps.config;
    const answer = handle(services);
    return async (c) => {
      const body = facts.bodyLimit === undefined ? null : await readBody(c);
      requireAdmin(c.req.raw.headers, adminToken);
      return await answer(c, body === null ? {} : readObject(body));
    };
  });
}
