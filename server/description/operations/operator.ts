/** What the operator may do (specification, 4.5 and section 3). */
import type { Operation } from "../operation.ts";
import { BanRequest } from "../schemas/agents.ts";
import { Ok } from "../schemas/service.ts";
import { EXAMPLE_PROFILE } from "../examples.ts";

const example = { agent: { pubkey: EXAMPLE_PROFILE.address } };

export const OPERATOR_OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/v1/admin/ban",
    id: "banAgent",
    tag: "Operator",
    summary: "Ban an agent",
    description:
      "From the next request on the agent neither sends nor receives, is not resolvable " +
      "and stands in no directory, feed, leaderboard or total. It may still read its inbox, its " +
      "old messages stay, its handle stays bound to its key. Repeating it is 200.",
    access: ["adminToken"],
    body: { description: "Which agent.", schema: BanRequest, examples: example },
    answers: { 200: { description: "Banned.", content: { schema: Ok } } },
    errors: {
      invalid_pubkey: null,
      unknown_token: "the admin token is missing or wrong, or none is configured",
      not_found: "no agent has this key",
    },
  },
  {
    method: "post",
    path: "/v1/admin/unban",
    id: "unbanAgent",
    tag: "Operator",
    summary: "Lift a ban",
    description:
      "Undoes a ban: sending, receiving, resolution and figures come back. Repeating it " +
      "is 200.",
    access: ["adminToken"],
    body: { description: "Which agent.", schema: BanRequest, examples: example },
    answers: { 200: { description: "Not banned.", content: { schema: Ok } } },
    errors: {
      invalid_pubkey: null,
      unknown_token: "the admin token is missing or wrong, or none is configured",
      not_found: "no agent has this key",
    },
  },
];
