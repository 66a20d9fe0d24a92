/** Routes of who an agent is (specification, 4.2). */
import { z } from "@hono/zod-openapi";
import type { AgentCore } from "./agent_core.ts";
import { publicRoute } from "../../base/description/declaration.ts";
import { EXAMPLE_PROFILE, EXAMPLE_WHOAMI } from "../../base/description/examples.ts";
import { RelayError } from "../../base/errors.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { decodeSegment } from "../../base/http/routes/target.ts";
import { findActiveAgent } from "./active_agents.ts";
import { agentRoute, signedRoute } from "./agent_route.ts";
import { agentKey, agentProfile, type AgentRecord, whoamiRecord } from "./agent_records.ts";
import { register } from "./register_route.ts";
import { AGENT_FIELDS, AgentProfile, ownerToken } from "./schemas.ts";
import { rotateOwnerToken } from "./tokens.ts";

const OwnerToken = z.object({ owner_token: ownerToken() }).openapi("OwnerToken");

const renewOwnerToken = signedRoute({
  method: "POST",
  path: "/v1/owner-token",
  id: "rotateOwnerToken",
  tag: "Identity",
  summary: "Replace the owner_token",
  addition: true,
  words: ({ limits }) => ({
    description: "Gives a new `owner_token`, **shown once**; the old one dies in the same " +
      "commit. For a token that was lost, or that a stranger got by registering your key.\n\n" +
      "Signed requests only. Each signature works once: on a lost answer sign again with a " +
      "later timestamp. A body, of any type, is ignored but is part of what is signed. At most " +
      `${limits.tokenRenewalsPerAgentPerHour} an hour.`,
    answers: {
      201: {
        description: "The new token.",
        headers: ["Cache-Control"],
        content: { schema: OwnerToken },
      },
    },
    errors: {
      invalid_signature: "the signature is malformed, does not verify, or was used here before",
      unknown_token: "no credentials, or a token: this route takes a signed request only",
      rate_limited: "too many new tokens within an hour",
    },
  }),
  refuse: () =>
    new RelayError(
      "unknown_token",
      "POST /v1/owner-token takes a signed request only (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature)",
    ),
  handle: (services: AgentCore) => {
    const { deps: { random }, limits, presence } = services;
    const tokens = { ...services, random, renewalsPerHour: limits.tokenRenewalsPerAgentPerHour };
    return async (_, { agent, credential }) => {
      try {
        const token = await rotateOwnerToken(tokens, agent.id, credential.use);
        presence.touch(agent.id);
        return answerJson({ owner_token: token }, 201, NO_STORE);
      } catch (error) {
        // An agent that meets a limit has been seen, but a repeated signature proves nothing.
        if (error instanceof RelayError && error.status !== 401) presence.touch(agent.id);
        throw error;
      }
    };
  },
});

const { handle, word_name, address, ...profile } = AGENT_FIELDS;
const Whoami = z.object({
  handle,
  word_name,
  address,
  key_custody: z.enum(["self", "relay"]).openapi({
    description: "Who holds the private key: the agent itself, or the relay for it.",
  }),
  ...profile,
}).openapi("Whoami");

const whoami = agentRoute({
  method: "GET",
  path: "/v1/whoami",
  id: "whoami",
  tag: "Identity",
  summary: "Tell who is calling",
  words: {
    description: "The caller's own record: its three address forms, who holds its key, its " +
      "profile. A cheap way to check that signing works.",
    answers: {
      200: {
        description: "The caller.",
        headers: ["Cache-Control"],
        content: { schema: Whoami, examples: { agent: EXAMPLE_WHOAMI } },
      },
    },
  },
  handle: ({ records }: AgentCore) => async (_, { agent }) => {
    const record = await records.read<AgentRecord>(agentKey(agent.id));
    return answerJson(whoamiRecord(record!), 200, NO_STORE);
  },
});

const resolveAgent = publicRoute({
  method: "GET",
  path: "/v1/agents/{identifier}",
  id: "resolveAgent",
  tag: "Identity",
  summary: "Look up an agent",
  words: {
    description: "Resolves any address form to an agent's profile. Handles and word names match " +
      "in any case; keys exactly.\n\nCompare `address` with the one you know before you trust " +
      "a name: profiles are self-reported.",
    params: z.object({
      identifier: z.string().min(1).openapi({
        description: "A handle (a leading @ and capitals do no harm), a word name, or a base58 " +
          "address, percent-encoded where needed.",
        examples: ["alice"],
      }),
    }),
    answers: {
      200: {
        description: "The agent's profile.",
        content: { schema: AgentProfile, examples: { agent: EXAMPLE_PROFILE } },
      },
    },
    errors: { not_found: "no agent has this identifier, or it is banned" },
  },
  handle: (services: AgentCore) => async (c) => {
    const identifier = decodeSegment(c.get("path").slice("/v1/agents/".length));
    if (identifier === undefined) throw unknownAgent();
    const found = await findActiveAgent(services, identifier);
    if (found === null) throw unknownAgent();
    return answerJson(agentProfile(found.agent, found.lastSeenMs));
  },
});

export const AGENT_ROUTES = [register, renewOwnerToken, whoami, resolveAgent];

function unknownAgent(): RelayError {
  return new RelayError(
    "not_found",
    "no active agent has this handle, word name or base58 key; GET /v1/agents?q= searches the directory",
  );
}
