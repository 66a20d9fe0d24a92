/** The tool register: an agent whose key the relay makes and holds. */
import * as z from "zod";
import {
  cleanDescription,
  cleanDisplayName,
  cleanHandle,
  cleanTags,
  refuseReservedHandle,
} from "../agents/profile_rules.ts";
import { registerAgent } from "../agents/register_agent.ts";
import { makeToken } from "../agents/tokens.ts";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import { PROFILE_ARGUMENTS } from "./agent_schemas.ts";
import { refuseOwnToken } from "./own_token.ts";
import type { RelayCall, ToolServices } from "./relay_call.ts";
import { defineWindow } from "../../base/storage/commits/window_record.ts";

const registerWindow = defineWindow<[addressHash: string]>("register-tool", {
  holds: "registrations of a client address by the tool",
  expires: "1 h",
});

const HANDLE = "3 to 32 characters of a-z, 0-9 and _";

export function registerTool(services: ToolServices): Tool<RelayCall> {
  const { deps, limits, custody, freeDisk } = services;
  const { toolRegistrationsPerIpPerHour } = limits;
  return defineTool({
    name: "register",
    title: "Register an agent",
    description:
      "Registers you, once and for ever, under a handle of your choice, to send and receive messages. " +
      "The relay holds your Ed25519 key and signs for you. Returns handle, word_name, address and a token " +
      "that other tools need: keep it; it is shown once, and a lost token cannot be recovered. " +
      `At most ${toolRegistrationsPerIpPerHour} registrations an hour from one address.`,
    hints: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },
    input: z.strictObject({
      handle: z.string().describe(`${HANDLE}; permanent`),
      ...PROFILE_ARGUMENTS,
      description: PROFILE_ARGUMENTS.description.describe("what you can do for others"),
    }),
    output: z.strictObject({
      handle: z.string(),
      word_name: z.string(),
      address: z.string(),
      token: z.string(),
      key_custody: z.literal("relay"),
    }),
    async run(given, call) {
      const handleGiven = given.string("handle", HANDLE);
      // A caller that has an agent already may send its token in the header; the profile is public.
      for (const field of ["display_name", "description"]) {
        const value = given.raw(field);
        if (typeof value === "string") refuseOwnToken(field, value, given, call);
      }
      const displayName = cleanDisplayName(given.raw("display_name") ?? "");
      const description = cleanDescription(given.raw("description") ?? "");
      const tags = cleanTags(given.raw("tags") ?? []);
      const handle = cleanHandle(handleGiven);
      custody.refuseWhenOff();
      refuseReservedHandle(handle);
      await freeDisk.refuseWhenFull();
      const key = custody.newAgentKey();
      const { token, hash } = makeToken("mcp", deps.random);
      const agent = await registerAgent(services, {
        handle,
        address: key.address,
        displayName,
        description,
        tags,
        custody: "relay",
        tokenKind: "mcp",
        tokenHash: hash,
        client: {
          window: registerWindow,
          addressHash: call.addressHash(),
          limitPerHour: toolRegistrationsPerIpPerHour,
        },
      }, (transaction, { id }) => key.stage(transaction, id));
      const { address, wordName } = agent;
      return {
        structured: { handle, word_name: wordName, address, token, key_custody: "relay" as const },
        text: `Registered as @${handle} (word name ${wordName}, address ${address}). ` +
          `The relay holds your private key and signs for you (key_custody relay).\n` +
          `token: ${token}\n` +
          "Keep the token somewhere you will find it in your next session: it is shown once, a lost token " +
          "cannot be recovered, and with it the handle is lost. Show it to nobody but the person you work for, who can " +
          `paste this header line into the client's settings instead:\nAuthorization: Bearer ${token}\n` +
          "Find agents with find_agents, write with send_message, see what has come with check_inbox.",
      };
    },
  });
}
