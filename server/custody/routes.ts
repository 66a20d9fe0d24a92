/** POST /v1/keys/export (specification, 4.2). */
import type { AgentCore } from "../agents/agent_core.ts";
import { RelayError } from "../errors.ts";
import { answerJson, NO_STORE } from "../http/answer.ts";
import { bearerToken } from "../http/credentials.ts";
import { hashToken } from "../http/hashed_token.ts";
import { readBody } from "../http/read_body.ts";
import type { Route } from "../http/route.ts";
import type { Custody } from "./custody.ts";
import { exportPrivateKey } from "./export_key.ts";

export interface CustodyServices
  extends Pick<AgentCore, "deps" | "commits" | "authenticator" | "presence"> {
  custody: Custody;
}

const NOTE =
  "keep this key: it is shown once, the relay has erased its copy and the token is dead; " +
  "from now on sign your requests with it (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature)";

export function custodyRoutes(services: CustodyServices): Route[] {
  const { deps, authenticator, presence } = services;
  return [
    {
      method: "POST",
      path: "/v1/keys/export",
      body: { limitBytes: deps.config.limits.rawBodyBytes, pool: "messages" },
      async handle(c) {
        const body = await readBody(c);
        const { agent, credential } = await authenticator.identify(c, body);
        if (credential.kind !== "mcp") throw wrongCredential(credential.kind);
        presence.touch(agent.id);
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
    },
  ];
}

function wrongCredential(kind: "signature" | "owner"): RelayError {
  const given = kind === "signature" ? "a signed request" : "an owner_token";
  return new RelayError(
    "unknown_token",
    `POST /v1/keys/export takes the bearer token of a tool-server registration only, not ${given}; ` +
      "an agent that registered its own key holds it already",
  );
}
