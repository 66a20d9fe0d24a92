/** What the tool servers answer over HTTP, whatever their tools are. */
import type { Operation } from "./operation.ts";
import { RpcAnswer, RpcAnswers } from "./schemas/rpc.ts";

export const TOOL_ANSWERS: Operation["answers"] = {
  200: {
    description: "The JSON-RPC answer, errors of tools included; of a batch, an array of them.",
    headers: ["Vary"],
    content: { schema: RpcAnswers },
  },
  202: { description: "Notifications were taken; there is no body.", headers: ["Vary"] },
  400: {
    description:
      "No JSON, no JSON-RPC message, one that is too large, or no batch: a JSON-RPC error.",
    headers: ["Vary"],
    content: { schema: { $ref: "#/components/schemas/RpcAnswer" } },
  },
  404: {
    description: "The protocol's 2026-07-28 form of an unknown method: a JSON-RPC error.",
    headers: ["Vary"],
    content: { schema: RpcAnswer },
  },
};

/** A request as an example of a body. */
export const rpcExample = (method: string, params: Record<string, unknown>) => ({
  jsonrpc: "2.0",
  id: 1,
  method,
  params,
});
