/** What the operator may do: ban, unban (specification, 4.5), list the bans, purge. */
import { z } from "@hono/zod-openapi";
import { EXAMPLE_PROFILE } from "../../base/description/examples.ts";
import { integer, limit, querySchema } from "../../base/description/schemas/queries.ts";
import { banReason } from "../../base/description/schemas/text_rules.ts";
import { address, handle, time } from "../../base/description/schemas/values.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { readQuery } from "../../base/http/fields/query.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { findByKey, findNamed, isAddress, readReason } from "./admin_request.ts";
import { adminRoute } from "./admin_route.ts";
import type { OperatorActions } from "./operator_actions.ts";

interface AdminServices {
  actions: OperatorActions;
}

const pubkeyGiven = z.string().refine(isAddress).openapi({
  pattern: "^[1-9A-HJ-NP-Za-km-z]{33,44}$",
  description: "The agent's address.",
});

const named = {
  pubkey: pubkeyGiven.nullish(),
  handle: z.string().regex(/^@?[A-Za-z0-9_]{3,32}$/).nullish().openapi({
    "x-addition": true,
    description: "The agent's handle, in place of `pubkey`; capitals and a leading @ do no harm.",
  }),
};

/** Exactly one of the two names the agent. */
function namesOne(request: { pubkey?: string | null; handle?: string | null }): boolean {
  return ((request.pubkey ?? null) === null) !== ((request.handle ?? null) === null);
}

const BanRequest = z.object({ ...named, reason: banReason().nullish() })
  .refine(namesOne).openapi("BanRequest");

const UnbanRequest = z.object(named).refine(namesOne).openapi("UnbanRequest");

const Ban = z.object({
  pubkey: address("The agent's address:"),
  handle: handle("Its handle."),
  reason: z.string().nullable().openapi({ description: "As the operator gave it." }),
  banned_at: time("When it was banned; null for a ban that is older than this list.")
    .nullable(),
}).openapi("Ban");

const Bans = z.object({ bans: z.array(Ban) }).openapi("BanList");

const PurgeRequest = z.object({ pubkey: pubkeyGiven }).openapi("PurgeRequest");

const Purging = z.object({
  pubkey: address("The agent's address:"),
  status: z.literal("purging"),
}).openapi("Purging");

/** A plain boolean: of an enum of true alone some generators make a class that refuses true. */
const Ok = z.object({ ok: z.boolean() }).openapi("Ok");

const BANS_QUERY = {
  limit: limit("bans"),
  offset: integer("How many bans to skip.", { min: 0, max: 10_000, absent: 0 }),
};

const EXAMPLE = { pubkey: EXAMPLE_PROFILE.address };
const WHICH_AGENT = "Which agent: `pubkey`, or in its place `handle`.";
const NAMED_ERRORS = {
  invalid_pubkey: null,
  invalid_handle: null,
  not_found: "no agent has this key or handle",
};

const banAgent = adminRoute({
  method: "POST",
  path: "/v1/admin/ban",
  id: "banAgent",
  summary: "Ban an agent",
  bodyLimit: "rawBodyBytes",
  words: {
    description:
      "From the next request on the agent neither sends nor receives, is not resolvable " +
      "and stands in no directory, feed, leaderboard or total. It may still read its inbox, its " +
      "old messages stay, its handle stays bound to its key. Repeating it is 200, and replaces " +
      "the reason where one is given.",
    body: {
      description: WHICH_AGENT,
      schema: BanRequest,
      examples: {
        agent: EXAMPLE,
        reason: { handle: EXAMPLE_PROFILE.handle, reason: "sends spam" },
      },
    },
    answers: { 200: { description: "Banned.", content: { schema: Ok } } },
    errors: NAMED_ERRORS,
  },
  handle: ({ actions }: AdminServices) => async (_, request) => {
    const reason = readReason(request);
    await actions.ban(await findNamed(actions.identities, request), reason);
    return answerJson({ ok: true });
  },
});

const unbanAgent = adminRoute({
  method: "POST",
  path: "/v1/admin/unban",
  id: "unbanAgent",
  summary: "Lift a ban",
  bodyLimit: "rawBodyBytes",
  words: {
    description:
      "Undoes a ban: sending, receiving, resolution and figures come back. Repeating it " +
      "is 200.",
    body: {
      description: WHICH_AGENT,
      schema: UnbanRequest,
      examples: { agent: EXAMPLE },
    },
    answers: { 200: { description: "Not banned.", content: { schema: Ok } } },
    errors: NAMED_ERRORS,
  },
  handle: ({ actions }: AdminServices) => async (_, request) => {
    await actions.unban(await findNamed(actions.identities, request));
    return answerJson({ ok: true });
  },
});

const listBans = adminRoute({
  method: "GET",
  path: "/v1/admin/bans",
  id: "listBans",
  summary: "List the bans",
  addition: true,
  words: {
    description: "Who is banned, newest first, page by page. Bans from before this list was kept " +
      "come last, without reason and time.",
    query: querySchema(BANS_QUERY),
    answers: {
      200: {
        description: "A page of the bans.",
        headers: ["Cache-Control"],
        content: { schema: Bans },
      },
    },
  },
  handle: ({ actions }: AdminServices) => async (c) => {
    const { limit, offset } = readQuery(c.get("query"), BANS_QUERY);
    const page = await actions.bans.page(limit, offset);
    const bans = page.map(({ address, handle, reason, bannedAtMs }) => {
      const banned_at = bannedAtMs === null ? null : timestamp(bannedAtMs);
      return { pubkey: address, handle, reason, banned_at };
    });
    return answerJson({ bans }, 200, NO_STORE);
  },
});

const purgeAgent = adminRoute({
  method: "POST",
  path: "/v1/admin/purge",
  id: "purgeAgent",
  summary: "Delete what a banned agent sent",
  addition: true,
  bodyLimit: "rawBodyBytes",
  words: {
    description:
      "Deletes everything that the agent has sent until now from all inboxes and from its " +
      "outbox, in the background, and frees its retained bytes. It cannot be undone. What it " +
      "received stays, and so do its handle, its profile and the totals. An unban does not end " +
      "it, and brings nothing back. Repeating it is 202.",
    body: {
      description: "Which agent; it has to be banned.",
      schema: PurgeRequest,
      examples: { agent: EXAMPLE },
    },
    answers: { 202: { description: "The deletion has begun.", content: { schema: Purging } } },
    errors: {
      invalid_json: "unparsable body, a field of another type, or an agent that is not banned",
      invalid_pubkey: null,
      not_found: "no agent has this key",
    },
  },
  handle: ({ actions }: AdminServices) => async (_, request) => {
    const agent = await findByKey(actions.identities, request);
    await actions.purge(agent);
    return answerJson({ pubkey: agent.address, status: "purging" }, 202);
  },
});

export const OPERATOR_ROUTES = [banAgent, unbanAgent, listBans, purgeAgent];
