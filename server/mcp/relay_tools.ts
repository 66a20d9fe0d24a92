/** The tools of the messaging service, in the specification's order (4.6). */
import type { Tool } from "../tool_server/tool.ts";
import { type CheckInboxServices, checkInboxTool } from "./tools/check_inbox.ts";
import { type RegisterServices, registerTool } from "./tools/register.ts";
import type { RelayCall } from "./tools/relay_call.ts";
import { type SendMessageServices, sendMessageTool } from "./tools/send_message.ts";
import { type DirectoryToolServices, findAgentsTool } from "./tools/find_agents.ts";
import { listAgentsTool } from "./tools/list_agents.ts";
import { type UpdateProfileServices, updateProfileTool } from "./tools/update_profile.ts";
import { type WhoamiServices, whoamiTool } from "./tools/whoami.ts";

export interface RelayToolServices
  extends
    RegisterServices,
    WhoamiServices,
    SendMessageServices,
    CheckInboxServices,
    DirectoryToolServices,
    UpdateProfileServices {}

export function relayTools(services: RelayToolServices): Tool<RelayCall>[] {
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
