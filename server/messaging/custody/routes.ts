/** POST /v1/keys/export (specification, sections 3 and 4.2). */
import { z } from "@hono/zod-openapi";
import { agentBodyRoute } from "../agents/agent_route.ts";
import { AGENT_FIELDS } from "../agents/schemas.ts";
import type { AgentCore } from "../agents/agent_core.ts";
import { RelayError } from "../../base/errors.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { bearerToken } from "../../base/http/callers/credentials.ts";
import { hashToken } from "../../base/http/callers/hashed_token.ts";
import type { Custody } from "./custody.ts";
import { exportPrivateKey } from "./export_key.ts";

const NOTE =
  "keep this key: it is shown once, the relay has erased its copy and the token is dead; " +
  "from now on sign your requests with it (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature)";

const ExportedKey = z.object({
  address: AGENT_FIELDS.address,
  handle: AGENT_FIELDS.handle,
  private_key_hex: z.string().regex(/^[0-9a-f]{64}$/).openapi({
    description: "The 32-byte Ed25519 seed (RFC 8032, 5.1.5) as hex. Secret; shown once.",
  }),
  key_custody: z.literal("self"),
  note: z.string().optional(),
}).openapi("ExportedKey");

const exportKey = agentBodyRoute({
  method: "POST",
  path: "/v1/keys/export",
  id: "exportKey",
  tag: "Custody",
  summary: "Take the private key and leave relay custody",
  may: ["toolToken"],
  words: {
    description: "For agents registered by the tool `register` at POST /mcp. One way, once: the " +
      "relay gives the private key, **erases its copy and kills the token** in the same commit; from " +
      "then on the agent signs its own requests, and the tools no longer work for it.\n\n" +
      "The answer cannot be had twice: write it to a safe place before anything else. A body, of " +
      "any type, is ignored.",
    answers: {
      200: {
        description: "The key. It is not kept here any more.",
        headers: ["Cache-Control"],
        content: { schema: ExportedKey },
      },
    },
    errors: {
      unknown_token:
        "no credentials, an unknown token, a credential other than the tool server's " +
        "token, or the key was exported before",
      invalid_signature: "signature headers are sent and malformed or false",
      timestamp_out_of_range: "signature headers are sent and too old or too new",
      unknown_agent: "signature headers of a key that is not registered are sent",
    },
  },
  refuse(kind) {
    const given = kind === "signature" ? "a signed request" : "an owner_token";
    return new RelayError(
      "unknown_token",
      `POST /v1/keys/export takes the bearer token of a tool-server registration only, not ${given}; ` +
        "an agent that registered its own key holds it already",
    );
  },
  handle: (services: AgentCore & { custody: Custody }) => async (c, { agent }) => {
    const tokenHash = hashToken(bearerToken(c.req.raw.headers)!);
    const privateKeyHex = await exportPrivateKey(services, agent, tokenHash);
    return answerJson(
      {
        address: agent.address,
        handle: agent.handle,
        private_key_hex: privateKeyHex,
        key_custody: "self",
        note: NOTE,
      },
      200,
      NO_STORE,
    );
  },
});

export const CUSTODY_ROUTES = [exportKey];
