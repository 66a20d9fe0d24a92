/** What the operator may do: ban, unban (specification, 4.5), list the bans, purge. */
import type { Identities } from "../agents/identities.ts";
import type { Log } from "../deps.ts";
import { answerJson, NO_STORE } from "../http/answer.ts";
import { describeFailure } from "../http/describe_failure.ts";
import { readObject } from "../http/json_body.ts";
import { integer, readQuery } from "../http/query.ts";
import { readBody } from "../http/read_body.ts";
import { requireAdmin } from "../http/require_admin.ts";
import type { Route } from "../http/route.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import { timestamp } from "../timestamp.ts";
import { pageLimit } from "../http/page_limit.ts";
import { findByKey, findNamed, readReason } from "./admin_request.ts";
import { setBanned } from "./ban_agent.ts";
import type { BanList } from "./ban_list.ts";
import type { ListedBan } from "./ban_record.ts";
import type { Purges } from "./purges.ts";

export interface AdminServices {
  /** RELAY_ADMIN_TOKEN; unset, every call is refused. */
  adminToken: string | undefined;
  rawBodyBytes: number;
  identities: Identities;
  commits: GroupCommit;
  bans: BanList;
  purges: Purges;
  log: Log;
  /** Corrects the network's figures after a change; waits for it, but not for long. */
  sweep(): Promise<void>;
}

const BANS_QUERY = { limit: pageLimit(), offset: integer(0, 10_000, 0) };

export function adminRoutes(services: AdminServices): Route[] {
  const { adminToken, bans, purges, rawBodyBytes, identities, log } = services;
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
        const page = await bans.page(limit, offset);
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
        const agent = await findByKey(identities, readObject(body));
        await purges.begin(agent);
        log("purge_begun", { handle: agent.handle });
        purges.run().catch((error) => log("purge_stopped", describeFailure(error)));
        return answerJson({ pubkey: agent.address, status: "purging" }, 202);
      },
    },
  ];
}

function banRoute(services: AdminServices, path: string, banned: boolean): Route {
  const { adminToken, rawBodyBytes, identities, commits, sweep, log } = services;
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
      const agent = await findNamed(identities, request);
      await setBanned(commits, agent, banned, reason);
      const { handle } = agent;
      if (banned) log("agent_banned", { handle, reason });
      else log("agent_unbanned", { handle });
      await sweep();
      return answerJson({ ok: true });
    },
  };
}

function shownBan({ address, handle, reason, bannedAtMs }: ListedBan) {
  const banned_at = bannedAtMs === null ? null : timestamp(bannedAtMs);
  return { pubkey: address, handle, reason, banned_at };
}
