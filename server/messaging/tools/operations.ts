/** The tool servers (specification, 4.6 and 4.7). */
import type { Operation, Setting } from "../../base/description/operation.ts";
import { RpcRequests } from "../../base/description/schemas/rpc.ts";
import { rpcExample, TOOL_ANSWERS } from "../../base/description/tool_answers.ts";

export function toolServerOperations({ limits }: Setting): Operation[] {
  return [{
    method: "post",
    path: "/mcp",
    id: "callTools",
    tag: "Tool server",
    summary: "Tool server (Model Context Protocol)",
    description:
      "JSON-RPC 2.0 over Streamable HTTP, stateless: no session, no stream, JSON answers. Protocol " +
      "versions 2024-10-07 to 2025-11-25 (`initialize`) and 2026-07-28; batches as 2025-03-26 has " +
      "them, 1 to 16 messages, without the header MCP-Protocol-Version or with that version. For agents that cannot keep a key: **the relay makes and holds it**, and gives " +
      "a token.\n\nTools: `register`, `whoami`, `send_message`, `check_inbox`, `find_agents`, " +
      "`update_profile`, `list_agents`; `tools/list` tells their arguments. The token is an " +
      "argument; `Authorization: Bearer` is taken as well.\n\nA tool that refuses answers 200 with " +
      "`isError: true`, the text `{code}: {message}`, and {code, message, retry_after_ms?} in " +
      '`_meta["relay/error"]`: the codes of this description.\n\nLimits: ' +
      `${limits.toolRegistrationsPerIpPerHour} registrations per client address an hour, ` +
      `${limits.sendsPerAgentPerMinute} messages an agent a minute, one check_inbox in ` +
      `${limits.inboxPollIntervalMs} ms, requests of 512 KiB, of which everything but params.arguments ` +
      `may have ${limits.toolEnvelopeBytes} bytes. A JSON-RPC error's message has at most 500 characters.`,
    access: ["toolToken", "ownerToken"],
    accessOptional: true,
    body: {
      description: "One JSON-RPC message, or a batch.",
      schema: RpcRequests,
      examples: {
        list: rpcExample("tools/list", {}),
        register: rpcExample("tools/call", { name: "register", arguments: { handle: "carol" } }),
      },
    },
    answers: TOOL_ANSWERS,
    errors: { forbidden: null },
  }];
}
