/** The tools of the messaging service, in the specification's order (4.6). */
import type { Tool } from "../../base/tool_server/tool.ts";
import { checkInboxTool } from "./check_inbox.ts";
import { findAgentsTool } from "./find_agents.ts";
import { listAgentsTool } from "./list_agents.ts";
import { registerTool } from "./register.ts";
import type { RelayCall, ToolServices } from "./relay_call.ts";
import { sendMessageTool } from "./send_message.ts";
import { updateProfileTool } from "./update_profile.ts";
import { whoamiTool } from "./whoami.ts";

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
