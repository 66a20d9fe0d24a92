/** A tool server as a route: POST only, guarded, bounded, one message a request. */
import type { Context } from "hono";
import type { Config } from "../config.ts";
import type { ReadBody } from "../http/body.ts";
import { allowPreflight, openCors } from "../http/cors.ts";
import { answerWhole } from "../http/large_answer.ts";
import type { HttpEnv, Route } from "../http/route.ts";
import { acceptsOrigin, accessRules, refuseStrangeAccess } from "./access_rules.ts";
import type { ToolServer } from "./tool_server.ts";

/** Bytes of a request: a body of 64 KB may grow sixfold when its JSON is escaped into a string. */
const MAX_REQUEST_BYTES = 512 * 1024;
const ALLOW = "POST, OPTIONS";

/** JSON-RPC's codes (specification of JSON-RPC 2.0, section 5.1). */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

export interface ToolRouteOptions<Call> {
  path: string;
  config: Config;
  readBody: ReadBody;
  server: ToolServer<Call>;
  /** What the tools are told of a request. */
  describeCall(c: Context<HttpEnv>): Call;
}

export function toolRoute<Call>(options: ToolRouteOptions<Call>): Route {
  const { path, config, readBody, server, describeCall } = options;
  const rules = accessRules(config);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return {
    method: "POST",
    path,
    cors: "own",
    ownCors(request, headers) {
      headers.append("Vary", "Origin");
      const origin = request.headers.get("origin");
      if (!acceptsOrigin(origin, rules)) return;
      openCors(headers);
      if (request.method !== "OPTIONS") return;
      allowPreflight(headers, ALLOW, request.headers.get("access-control-request-headers"));
    },
    async handle(c) {
      const { headers } = c.req.raw;
      refuseStrangeAccess(headers, rules);
      const body = await readBody(c.req.raw, MAX_REQUEST_BYTES);
      let message: unknown;
      try {
        message = JSON.parse(decoder.decode(body));
      } catch {
        return rpcError(PARSE_ERROR, "Parse error: the request body is not JSON in UTF-8");
      }
      if (Array.isArray(message)) {
        return rpcError(
          INVALID_REQUEST,
          "Invalid Request: batches are not taken, send one message",
        );
      }
      return await boundAnswer(await server.answer(message, headers, describeCall(c)));
    },
  };
}

/** What the SDK or a tool made, as an answer that is bounded where it is large. */
async function boundAnswer(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  if (answer.body === null || headers.get("content-type") !== "application/json") return answer;
  return answerWhole(await answer.text(), { status, headers });
}

function rpcError(code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status: 400 });
}
