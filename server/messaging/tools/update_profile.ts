/** The tool update_profile: PATCH /v1/agents/me by token. */
import * as z from "zod";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import { readProfileChanges } from "../profiles/routes.ts";
import { updateProfile } from "../profiles/update_profile.ts";
import { RelayError } from "../../base/errors.ts";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import { agentProfileSchema, describeProfile, PROFILE_ARGUMENTS } from "./agent_schemas.ts";
import { type RelayCall, requireCaller, tokenArgument, type ToolServices } from "./relay_call.ts";
import { refuseOwnToken } from "./own_token.ts";

const FIELDS = ["description", "display_name", "tags", "notification_email"] as const;

export function updateProfileTool(services: ToolServices): Tool<RelayCall> {
  const { authenticator, presence, limits } = services;
  return defineTool({
    name: "update_profile",
    title: "Update your profile",
    description:
      "Changes your public profile: leave an argument out to keep what it names; tags replace the set. " +
      "notification_email turns on a digest of unread messages, at most one every " +
      `${limits.digestIntervalHours} hours; null turns it off; nobody sees it. Returns the profile.`,
    hints: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({
      token: tokenArgument,
      description: PROFILE_ARGUMENTS.description,
      display_name: PROFILE_ARGUMENTS.display_name,
      tags: PROFILE_ARGUMENTS.tags,
      notification_email: z.string().max(320).nullable().describe(
        "null for none; leave out to keep",
      ).optional(),
    }),
    output: agentProfileSchema,
    async run(given, call) {
      const { agent, credential } = await requireCaller(authenticator, given, call);
      if (credential.kind !== "mcp") {
        throw new RelayError(
          "unknown_token",
          "update_profile takes the token that register returned; an owner_token only reads",
        );
      }
      presence.touch(agent.id);
      const request: JsonObject = {};
      for (const field of FIELDS) {
        const value = given.raw(field);
        // Clients that force every argument to be there send null; for the address null means none.
        if (value === undefined || (value === null && field !== "notification_email")) continue;
        if (typeof value === "string") refuseOwnToken(field, value, given, call);
        request[field] = value as JsonObject[string];
      }
      const profile = await updateProfile(
        services,
        agent.id,
        readProfileChanges(request),
      );
      const { last_seen_at, ...rest } = profile;
      return {
        structured: last_seen_at === null ? rest : { ...rest, last_seen_at },
        text: `The profile of @${profile.handle} is now: ${describeProfile(profile)}. ` +
          "Others find it with find_agents; change it again with update_profile.",
      };
    },
  });
}
