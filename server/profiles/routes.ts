/** PATCH /v1/agents/me (specification, 4.2). */
import type { JsonObject } from "../../toolkit/json_value.ts";
import type { Core } from "../core.ts";
import { invalidJson, RelayError } from "../errors.ts";
import { answerJson } from "../http/answer.ts";
import type { Credential } from "../agents/authenticator.ts";
import { readObject } from "../http/json_body.ts";
import { readBody } from "../http/read_body.ts";
import type { Route } from "../http/route.ts";
import { cleanNotificationEmail } from "./notification_email.ts";
import { cleanDescription, cleanDisplayName, cleanTags } from "../agents/profile_rules.ts";
import type { SignatureUse } from "../agents/signature_use.ts";
import { type ProfileChanges, repeatedUpdate, updateProfile } from "./update_profile.ts";

export function profileRoutes(services: Core): Route[] {
  const { authenticator, limits } = services;
  return [
    {
      method: "PATCH",
      path: "/v1/agents/me",
      body: { limitBytes: limits.rawBodyBytes, pool: "messages" },
      async handle(c) {
        const body = await readBody(c);
        const { agent, credential } = await authenticator.authenticate(c, body);
        const use = signatureOf(credential);
        const repeated = await repeatedUpdate(services, agent.id, use);
        if (repeated !== null) return answerJson(repeated);
        const changes = readProfileChanges(readObject(body));
        return answerJson(await updateProfile(services, agent.id, changes, use));
      },
    },
  ];
}

/** @throws RelayError `unknown_token` for a credential that may not change profiles */
function signatureOf(credential: Credential): SignatureUse | undefined {
  if (credential.kind === "signature") return credential.use;
  if (credential.kind === "mcp") return undefined;
  throw new RelayError(
    "unknown_token",
    "PATCH /v1/agents/me takes a signed request (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature) or the token of the tool server; an owner_token only reads",
  );
}

const READERS: Readonly<Record<string, (value: unknown) => ProfileChanges>> = {
  display_name: (value) => ({ displayName: cleanDisplayName(value) }),
  description: (value) => ({ description: cleanDescription(value) }),
  tags: (value) => ({ tags: cleanTags(value) }),
  notification_email: (value) => ({ notificationEmail: cleanNotificationEmail(value) }),
};

/** The changes that a request names. @throws RelayError `invalid_json` naming the field */
export function readProfileChanges(request: JsonObject): ProfileChanges {
  let changes: ProfileChanges = {};
  for (const [field, value] of Object.entries(request)) {
    if (!Object.hasOwn(READERS, field)) {
      throw invalidJson(
        `${JSON.stringify(field.slice(0, 64))} cannot be changed; a profile update may hold ${
          Object.keys(READERS).join(", ")
        }; handle, word name and key are permanent`,
      );
    }
    changes = { ...changes, ...READERS[field]!(value) };
  }
  return changes;
}
