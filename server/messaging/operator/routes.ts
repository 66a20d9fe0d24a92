/** What the operator may do: ban, unban (specification, 4.5), list the bans, purge. */
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { integer, readQuery } from "../../base/http/fields/query.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import { requireAdmin } from "../../base/http/callers/require_admin.ts";
import type { Route } from "../../base/http/routes/route.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { pageLimit } from "../../base/http/fields/page_limit.ts";
import type { OperatorActions } from "./operator_actions.ts";
import { findByKey, findNamed, readReason } from "./admin_request.ts";
import type { ListedBan } from "./ban_record.ts";

export interface AdminServices {
  /** RELAY_ADMIN_TOKEN; unset, every call is refused. */
  adminToken: string | undefined;
  rawBodyBytes: number;
  actions: OperatorActions;
}

const BANS_QUERY = { limit: pageLimit(), offset: integer(0, 10_000, 0) };

export function adminRoutes(services: AdminServices): Route[] {
  const { adminToken, actions, rawBodyBytes } = services;
  return [
    banRoute(services, "/v1/admin/ban", true),
    banRoute(services, "/v1/admin/unban", false),
    {
      method: "GET",
      path: "/v1/admin/bans",
      cors: "none",
      async handle(c) {
        requireAdmin(c.req.raw.headers, adminToken);
        const { limit, offset } = readQuery(c.get("query"), BANS_QUERY);
        const page = await actions.bans.page(limit, offset);
        return answerJson({ bans: page.map(shownBan) }, 200, NO_STORE);
      },
    },
    {
      method: "POST",
      path: "/v1/admin/purge",
      cors: "none",
      body: { limitBytes: rawBodyBytes, pool: "messages" },
      async handle(c) {
        const body = await readBody(c);
        requireAdmin(c.req.raw.headers, adminToken);
        const agent = await findByKey(actions.identities, readObject(body));
        await actions.purge(agent);
        return answerJson({ pubkey: agent.address, status: "purging" }, 202);
      },
    },
  ];
}

function banRoute(services: AdminServices, path: string, banned: boolean): Route {
  const { adminToken, rawBodyBytes, actions } = services;
  return {
    method: "POST",
    path,
    cors: "none",
    body: { limitBytes: rawBodyBytes, pool: "messages" },
    async handle(c) {
      const body = await readBody(c);
      requireAdmin(c.req.raw.headers, adminToken);
      const request = readObject(body);
      const reason = banned ? readReason(request) : null;
      const agent = await findNamed(actions.identities, request);
      if (banned) await actions.ban(agent, reason);
      else await actions.unban(agent);
      return answerJson({ ok: true });
    },
  };
}

function shownBan({ address, handle, reason, bannedAtMs }: ListedBan) {
  const banned_at = bannedAtMs === null ? null : timestamp(bannedAtMs);
  return { pubkey: address, handle, reason, banned_at };
}
