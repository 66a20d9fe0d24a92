/** JSON-RPC 2.0, the part that HTTP sees. */
import { z } from "@hono/zod-openapi";

const rpcId = z.union([z.string(), z.int()]);

export const RpcRequest = z.strictObject({
  jsonrpc: z.literal("2.0"),
  id: rpcId.optional().openapi({ description: "Absent in notifications." }),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
}).openapi("RpcRequest");

export const RpcAnswer = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: rpcId.nullable().optional().openapi({ description: "That of the request." }),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.int(), message: z.string(), data: z.unknown().optional() })
    .optional(),
}).openapi("RpcAnswer");

/** One message, or a batch. */
export const RpcRequests = z.union([RpcRequest, z.array(RpcRequest).min(1).max(16)]);
export const RpcAnswers = z.union([RpcAnswer, z.array(RpcAnswer).min(1).max(16)]);
