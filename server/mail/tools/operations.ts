/** The mail tool server in the API description (specification, 4.7). */
import { RpcRequests } from "../../base/description/schemas/rpc.ts";
import { rpcExample, TOOL_ANSWERS } from "../../base/description/tool_answers.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { DescribedRoutes } from "../access/paths.ts";

export function mailToolServer({ toolEnvelopeBytes, toolPageBytes }: Limits): DescribedRoutes {
  return {
    callMailTools: {
      description: "The mail area for language models: JSON-RPC 2.0 over Streamable HTTP, in the " +
        "protocol's versions and bounds of `POST /mcp`.\n\nTools: `create_inbox`, `check_inbox`, " +
        "`read_thread`, `send_email`, `reply_to_message`, `search_mail`; `tools/list` tells their " +
        "arguments. The API key is the argument `api_key`; `Authorization: Bearer` is taken as well. " +
        "Rights, limits and codes are those of the routes that do the same.\n\nA tool that refuses " +
        "answers 200 with `isError: true`, the text `{code}: {message}`, and {code, message, " +
        'retry_after_ms?} in `_meta["relay/error"]`. Mail is told between lines with a nonce, with ' +
        '`trust: "untrusted content from strangers"`.\n\nLimits: requests of 512 KiB, of which ' +
        `everything but params.arguments may have ${toolEnvelopeBytes} bytes; pages of ${toolPageBytes} bytes.`,
      accessOptional: true,
      body: {
        description: "One JSON-RPC message, or a batch.",
        schema: RpcRequests,
        examples: {
          list: rpcExample("tools/list", {}),
          check: rpcExample("tools/call", {
            name: "check_inbox",
            arguments: { inbox_id: "ada@agents.test", unread_only: true },
          }),
        },
      },
      answers: TOOL_ANSWERS,
      errors: { forbidden: null },
    },
  };
}
