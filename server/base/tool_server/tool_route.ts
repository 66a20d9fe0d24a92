/** A tool server as a route: POST only, guarded, bounded, one message or one batch a request. */
import type { Context } from "hono";
import type { Config } from "../config/config.ts";
import type { BodyPoolName } from "../http/bodies/body_pools.ts";
import { allowPreflight, openCors } from "../http/routes/cors.ts";
import { answerWhole, isSmallText } from "../http/answers/large_answer.ts";
import { readBody } from "../http/routes/read_body.ts";
import type { HttpEnv, Route } from "../http/routes/route.ts";
import { acceptsOrigin, AccessGuard, accessRules } from "./access_rules.ts";
import { answerBatch } from "./batch.ts";
import { DirectAnswer } from "./direct_answer.ts";
import { RpcCode, rpcError } from "./json_rpc.ts";
import type { ToolServer } from "./tool_server.ts";

/** Bytes of a request: a body of 64 KB may grow sixfold when its JSON is escaped into a string. */
const MAX_REQUEST_BYTES = 512 * 1024;
const ALLOW = "POST, OPTIONS";

export interface ToolRouteOptions<Call> {
  path: string;
  /** The pool that its request bodies are counted in. */
  pool: BodyPoolName;
  config: Config;
  server: ToolServer<Call>;
  /** What the tools get of a request. */
  describeCall(c: Context<HttpEnv>): Call;
}

export function toolRoute<Call>(options: ToolRouteOptions<Call>): Route {
  const { path, pool, config, server, describeCall } = options;
  const rules = accessRules(config);
  const guard = new AccessGuard(rules);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return {
    method: "POST",
    path,
    body: { limitBytes: MAX_REQUEST_BYTES, pool },
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
      guard.refuseStrange(headers);
      const body = await readBody(c);
      let message: unknown;
      try {
        message = JSON.parse(decoder.decode(body));
      } catch {
        return rpcError(RpcCode.ParseError, { status: 400, id: null });
      }
      const call = describeCall(c);
      const answer = (one: unknown) => server.answer(one, headers, call);
      if (!Array.isArray(message)) return await boundAnswer(await answer(message));
      return await boundAnswer(
        await answerBatch(message, headers.get("mcp-protocol-version"), answer),
      );
    },
  };
}

/** What the SDK or a tool made, as an answer that is bounded where it is large. */
function boundAnswer(answer: Response): Response | Promise<Response> {
  if (!(answer instanceof DirectAnswer)) return boundUnread(answer);
  return isSmallText(answer.content)
    ? answer
    : answerWhole(answer.content, { headers: answer.headers });
}

async function boundUnread(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  if (answer.body === null || headers.get("content-type") !== "application/json") return answer;
  return answerWhole(await answer.text(), { status, headers });
}
