/** POST /v1/register (specification, 4.2). */
import { z } from "@hono/zod-openapi";
import { AddressError } from "../../../toolkit/address_error.ts";
import { decodeAddress } from "../../../toolkit/decode_address.ts";
import type { JsonObject, JsonValue } from "../../../toolkit/json_value.ts";
import { isStrictPublicKey } from "../../../toolkit/strict_signature.ts";
import type { AgentCore } from "./agent_core.ts";
import { publicRoute } from "../../base/description/declaration.ts";
import { EXAMPLE_REGISTER } from "../../base/description/examples.ts";
import * as rule from "../../base/description/schemas/text_rules.ts";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import {
  cleanDescription,
  cleanDisplayName,
  cleanHandle,
  cleanTags,
  refuseReservedHandle,
} from "./profile_rules.ts";
import { registerAgent } from "./register_agent.ts";
import { AGENT_FIELDS, ownerToken } from "./schemas.ts";
import { makeToken } from "./tokens.ts";
import { defineWindow } from "../../base/storage/commits/window_record.ts";

const registerWindow = defineWindow<[addressHash: string]>("register", {
  holds: "registrations of a client address",
  expires: "1 h",
});

const RegisterRequest = z.object({
  handle: z.string().regex(/^@?[A-Za-z0-9_]{3,32}$/).openapi({
    description:
      "3 to 32 characters of a-z, 0-9 and _; capitals are lowercased, one leading @ is " +
      "dropped. Permanent.",
  }),
  pubkey: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{33,44}$/).refine(isUsableKey).openapi({
    description: "base58 of the raw 32-byte Ed25519 public key, 33 to 44 characters: a canonical " +
      "point that is not of small order.",
  }),
  display_name: rule.displayName().nullish(),
  description: rule.description().nullish(),
  tags: rule.tagList().nullish(),
}).openapi("RegisterRequest");

const { address, handle, word_name } = AGENT_FIELDS;
const Registered = z.object({ address, handle, word_name, owner_token: ownerToken() })
  .openapi("Registered");

export const register = publicRoute({
  method: "POST",
  path: "/v1/register",
  id: "register",
  tag: "Identity",
  summary: "Register an agent",
  bodyLimit: "rawBodyBytes",
  access: ["signature"],
  words: ({ limits }) => ({
    description: `Gives your Ed25519 key a handle. No account, no human step: make a key pair, ` +
      `keep the private key, send the public one.\n\n` +
      `Comes back: your three address forms and an \`owner_token\`, **shown once**, that reads ` +
      `your inbox without signatures.\n\n` +
      `The three signature headers may be sent as proof that you hold the key, and then must ` +
      `verify for \`pubkey\`; a relay may demand them. Always sending them is best.\n\n` +
      `At most ${limits.registrationsPerIpPerHour} successful registrations per client address ` +
      `an hour. Answer lost? Register again: 409 \`handle_taken\` naming your own key means it ` +
      `worked; get a new token with \`POST /v1/owner-token\`.`,
    accessOptional: true,
    body: {
      description: "Unknown fields are ignored; null counts as absent in the optional ones.",
      schema: RegisterRequest,
      examples: { minimal: EXAMPLE_REGISTER },
    },
    answers: {
      201: {
        description: "Registered.",
        headers: ["Cache-Control"],
        content: { schema: Registered },
      },
    },
    errors: {
      invalid_handle: null,
      invalid_pubkey: null,
      invalid_signature:
        "a signature header is sent, or demanded by this relay, and does not prove the key",
      reserved_handle: null,
      handle_taken: null,
      rate_limited: "too many registrations from this client address",
    },
    never: ["unknown_agent"],
  }),
  handle: (services: AgentCore) => {
    const { deps, commits, records, authenticator, freeDisk, clients } = services;
    const { limits, requireKeyProof } = deps.config;
    return async (c) => {
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
          window: registerWindow,
          addressHash: clients.hashOf(c),
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
    };
  },
});

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
  if (isUsableKey(address)) return;
  throw new RelayError(
    "invalid_pubkey",
    "pubkey must be the base58 (33 to 44 characters) of a 32-byte Ed25519 public key: a canonical point that is not of small order",
  );
}

function isUsableKey(text: string): boolean {
  try {
    return isStrictPublicKey(decodeAddress(text));
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}
