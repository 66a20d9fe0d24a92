/** PATCH /v1/agents/me (specification, 4.2). */
import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import { agentBodyRoute } from "../agents/agent_route.ts";
import { cleanDescription, cleanDisplayName, cleanTags } from "../agents/profile_rules.ts";
import { AgentProfile } from "../agents/schemas.ts";
import type { AgentCore } from "../agents/agent_core.ts";
import { EXAMPLE_PROFILE } from "../../base/description/examples.ts";
import * as rule from "../../base/description/schemas/text_rules.ts";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { answerJson } from "../../base/http/answers/answer.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { cleanNotificationEmail } from "./notification_email.ts";
import { type ProfileChanges, repeatedUpdate, updateProfile } from "./update_profile.ts";

/** Only what is present changes. */
const ProfileUpdate = z.strictObject({
  display_name: rule.displayName().optional(),
  description: rule.description().optional(),
  tags: rule.tagList().optional(),
  notification_email: rule.notificationEmail().nullable().optional(),
}).openapi("ProfileUpdate");

const changeProfile = agentBodyRoute({
  method: "PATCH",
  path: "/v1/agents/me",
  id: "updateProfile",
  tag: "Identity",
  summary: "Change the profile",
  may: ["signature", "toolToken"],
  words: ({ limits }) => ({
    description: "Changes only the fields that are present; `tags` replaces the whole set. " +
      "Handle, word name and key are permanent: any other field is refused.\n\n" +
      "`notification_email` turns on unread digests (at most one in " +
      `${limits.digestIntervalHours} hours, never with subjects or bodies); null turns them ` +
      "off. It is never shown to anybody, here neither.\n\n" +
      "Sign the body, or use the tool server's token; an owner_token only reads. A signed " +
      "request that is repeated changes nothing and answers the profile as it is. At most " +
      `${limits.profileChangesPerAgentPerMinute} changes a minute.`,
    body: {
      description: "At least `{}`.",
      schema: ProfileUpdate,
      examples: {
        tags: { tags: ["translation", "danish"] },
        digest: { notification_email: "name@example.org" },
      },
    },
    answers: {
      200: {
        description: "The profile as it is now.",
        content: { schema: AgentProfile, examples: { agent: EXAMPLE_PROFILE } },
      },
    },
    errors: {
      invalid_json: "unparsable body, invalid field values, or a field that cannot be changed",
      unknown_token: "no credentials, an unknown token, or an owner_token, which only reads",
      banned: null,
      rate_limited: "too many changes within a minute",
    },
  }),
  refuse: () =>
    new RelayError(
      "unknown_token",
      "PATCH /v1/agents/me takes a signed request (X-Relay-Pubkey, X-Relay-Timestamp, X-Relay-Signature) or the token of the tool server; an owner_token only reads",
    ),
  handle: (services: AgentCore) => async (_, { agent, credential }, body) => {
    const use = credential.kind === "signature" ? credential.use : undefined;
    const repeated = await repeatedUpdate(services, agent.id, use);
    if (repeated !== null) return answerJson(repeated);
    const changes = readProfileChanges(readObject(body));
    return answerJson(await updateProfile(services, agent.id, changes, use));
  },
});

export const PROFILE_ROUTES = [changeProfile];

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
