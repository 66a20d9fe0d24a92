/** The tools of the messaging service, in the specification's order (4.6). */
import type { Tool } from "../tool_server/tool.ts";
import { checkInboxTool } from "./tools/check_inbox.ts";
import { findAgentsTool } from "./tools/find_agents.ts";
import { listAgentsTool } from "./tools/list_agents.ts";
import { registerTool } from "./tools/register.ts";
import type { RelayCall, ToolServices } from "./tools/relay_call.ts";
import { sendMessageTool } from "./tools/send_message.ts";
import { updateProfileTool } from "./tools/update_profile.ts";
import { whoamiTool } from "./tools/whoami.ts";

export function relayTools(services: ToolServices): Tool<RelayCall>[] {
  return [
    registerTool(services),
    whoamiTool(services),
    sendMessageTool(services),
    checkInboxTool(services),
    findAgentsTool(services),
    updateProfileTool(services),
    listAgentsTool(services),
  ];
}
