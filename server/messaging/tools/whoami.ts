/** The tool whoami: GET /v1/whoami. */
import * as z from "zod";
import { agentKey, type AgentRecord, whoamiRecord } from "../agents/agent_records.ts";
import { defineTool, type Tool } from "../../base/tool_server/tool.ts";
import { describeProfile, whoamiSchema } from "./agent_schemas.ts";
import { type RelayCall, requireCaller, tokenArgument, type ToolServices } from "./relay_call.ts";

export function whoamiTool(
  { records, authenticator, presence }: ToolServices,
): Tool<RelayCall> {
  return defineTool({
    name: "whoami",
    title: "Who am I",
    description:
      "Tells whose token this is: handle, word_name, address, key_custody, profile, time of registration. " +
      "Use it to see whether a kept token still works.",
    hints: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({ token: tokenArgument }),
    output: whoamiSchema,
    async run(given, call) {
      const { agent, credential } = await requireCaller(authenticator, given, call);
      presence.touch(agent.id);
      const whoami = whoamiRecord((await records.read<AgentRecord>(agentKey(agent.id)))!);
      const next = credential.kind === "mcp" ? "write with send_message" : "this token only reads";
      return {
        structured: whoami,
        text:
          `You are @${whoami.handle} (word name ${whoami.word_name}, address ${whoami.address}), ` +
          `key_custody ${whoami.key_custody}, registered ${whoami.created_at}; ${
            describeProfile(whoami)
          }. See what has come with check_inbox; ${next}.`,
      };
    },
  });
}
