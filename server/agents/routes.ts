/** POST /v1/register, GET /v1/whoami, GET /v1/agents/{identifier}, POST /v1/owner-token. */
import { AddressError } from "../../toolkit/address_error.ts";
import { decodeAddress } from "../../toolkit/decode_address.ts";
import type { JsonObject, JsonValue } from "../../toolkit/json_value.ts";
import { isStrictPublicKey } from "../../toolkit/strict_signature.ts";
import type { Core } from "../core.ts";
import { invalidJson, RelayError } from "../errors.ts";
import { answerJson, NO_STORE } from "../http/answer.ts";
import { callerHash } from "../http/client_address.ts";
import { readObject } from "../http/json_body.ts";
import { readBody } from "../http/read_body.ts";
import type { Route } from "../http/route.ts";
import { decodeSegment } from "../http/target.ts";
import { withCaller, withCallerAndBody } from "../http/with_caller.ts";
import { findActiveAgent } from "./active_agents.ts";
import {
  cleanDescription,
  cleanDisplayName,
  cleanHandle,
  cleanTags,
  refuseReservedHandle,
} from "./profile_rules.ts";
import { agentKey, agentProfile, type AgentRecord, whoamiRecord } from "./agent_records.ts";
import { registerAgent } from "./register_agent.ts";
import { makeToken, rotateOwnerToken } from "./tokens.ts";

export function agentRoutes(services: Core): Route[] {
  const { deps, store, records, commits, presence, authenticator, freeDisk } = services;
  const { limits, requireKeyProof, trustedProxyHops } = deps.config;
  const tokenServices = {
    store,
    commits,
    records,
    freeDisk,
    random: deps.random,
    renewalsPerHour: limits.tokenRenewalsPerAgentPerHour,
  };

  return [
    {
      method: "POST",
      path: "/v1/register",
      body: { limitBytes: limits.rawBodyBytes, pool: "messages" },
      async handle(c) {
        const body = await readBody(c);
        const request = readRegistration(readObject(body));
        const handle = cleanHandle(request.handle);
        requirePublicKey(request.pubkey);
        const proven = authenticator.proveKey(c, body, request.pubkey);
        if (!proven && requireKeyProof) {
          throw new RelayError(
            "invalid_signature",
            "this relay registers a key only for its holder: sign the request with the key (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature)",
          );
        }
        refuseReservedHandle(handle);
        await freeDisk.refuseWhenFull();
        const { token, hash } = makeToken("owner", deps.random);
        const agent = await registerAgent({ commits, records }, {
          handle,
          address: request.pubkey,
          displayName: request.displayName,
          description: request.description,
          tags: request.tags,
          custody: "self",
          tokenKind: "owner",
          tokenHash: hash,
          client: {
            windowName: "register",
            addressHash: callerHash(c, services.addressKey, trustedProxyHops),
            limitPerHour: limits.registrationsPerIpPerHour,
          },
        });
        return answerJson(
          {
            address: agent.address,
            handle: agent.handle,
            word_name: agent.wordName,
            owner_token: token,
          },
          201,
          NO_STORE,
        );
      },
    },
    {
      method: "GET",
      path: "/v1/whoami",
      handle: withCaller(authenticator.authenticate, async (_, { agent }) => {
        const record = await records.read<AgentRecord>(agentKey(agent.id));
        return answerJson(whoamiRecord(record!), 200, NO_STORE);
      }),
    },
    {
      method: "GET",
      path: "/v1/agents/{identifier}",
      async handle(c) {
        const identifier = decodeSegment(c.get("path").slice("/v1/agents/".length));
        if (identifier === undefined) throw unknownAgent();
        const found = await findActiveAgent(services, identifier);
        if (found === null) throw unknownAgent();
        return answerJson(agentProfile(found.agent, found.lastSeenMs));
      },
    },
    {
      method: "POST",
      path: "/v1/owner-token",
      body: { limitBytes: limits.rawBodyBytes, pool: "messages" },
      handle: withCallerAndBody(authenticator.identify, readBody, async (_, caller) => {
        const { agent, credential } = caller;
        if (credential.kind !== "signature") {
          throw new RelayError(
            "unknown_token",
            "POST /v1/owner-token takes a signed request only (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature)",
          );
        }
        try {
          const token = await rotateOwnerToken(tokenServices, agent.id, credential.use);
          presence.touch(agent.id);
          return answerJson({ owner_token: token }, 201, NO_STORE);
        } catch (error) {
          // Whoever meets a limit has been seen, but a signature that was used before is no proof.
          if (error instanceof RelayError && error.status !== 401) presence.touch(agent.id);
          throw error;
        }
      }),
    },
  ];
}

function unknownAgent(): RelayError {
  return new RelayError(
    "not_found",
    "no active agent has this handle, word name or base58 key; GET /v1/agents?q= searches the directory",
  );
}

interface RegistrationRequest {
  handle: string;
  pubkey: string;
  displayName: string;
  description: string;
  tags: string[];
}

/** Types and lengths of a registration. @throws RelayError `invalid_json` naming the field */
function readRegistration(request: JsonObject): RegistrationRequest {
  const handle = requireString(request, "handle", "3 to 32 characters of a-z, 0-9 and _");
  const pubkey = requireString(request, "pubkey", "base58 of the 32-byte Ed25519 public key");
  return {
    handle,
    pubkey,
    displayName: cleanDisplayName(request["display_name"] ?? ""),
    description: cleanDescription(request["description"] ?? ""),
    tags: cleanTags(request["tags"] ?? []),
  };
}

function requireString(request: JsonObject, field: string, form: string): string {
  const value: JsonValue | undefined = request[field];
  if (value === undefined) throw invalidJson(`${field} is required: ${form}`);
  if (typeof value !== "string") throw invalidJson(`${field} must be a string: ${form}`);
  return value;
}

/** @throws RelayError `invalid_pubkey` */
function requirePublicKey(address: string): void {
  try {
    if (isStrictPublicKey(decodeAddress(address))) return;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
  }
  throw new RelayError(
    "invalid_pubkey",
    "pubkey must be the base58 (33 to 44 characters) of a 32-byte Ed25519 public key: a canonical point that is not of small order",
  );
}
