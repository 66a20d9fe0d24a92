/**
 * A tool server over Streamable HTTP, stateless: every request is served by a fresh instance of the
 * SDK's server, since shared ones give concurrent callers each other's answers.
 *
 * Two eras of the protocol: 2024-10-07 to 2025-11-25 begin with `initialize`, 2026-07-28 says all in
 * each request. Both get JSON answers.
 */
import {
  type CallToolResult,
  createMcpHandler,
  type Implementation,
  isLegacyRequest,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  SERVER_INFO_META_KEY,
  type ServerOptions,
  type Tool as ListedTool,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { RelayError } from "../errors.ts";
import { type DirectRequest, DirectRequestReader, type Era } from "./direct_request.ts";
import { listTools } from "./listed_tools.ts";
import type { Tool } from "./tool.ts";
import { ToolArguments } from "./tool_arguments.ts";
import { toolFailure } from "./tool_failure.ts";

export interface ToolServerOptions<Call> {
  info: Implementation;
  /** Told to clients when they connect. */
  instructions: string;
  tools: readonly Tool<Call>[];
  /** Hears of anything but a RelayError that a tool throws. @returns what the caller is told */
  unexpected(failure: unknown, call: Call): RelayError;
}

/** How long clients may keep the list of tools: it changes only with the relay's version. */
const LIST_TTL_MS = 3_600_000;
const LIST_HINT = { ttlMs: LIST_TTL_MS, cacheScope: "public" } as const;
/** The headers of a request that the SDK reads; the rest it would only misread. */
const PROTOCOL_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name"];

export class ToolServer<Call> {
  readonly #tools = new Map<string, { tool: Tool<Call>; argumentNames: string[] }>();
  readonly #listed: ListedTool[];
  /** The result of tools/list as JSON text. */
  readonly #listedText: Record<Era, string>;
  readonly #direct = new DirectRequestReader();
  readonly #serverOptions: ServerOptions;
  readonly #modern: McpHttpHandler;
  readonly #calls = new WeakMap<Request, Call>();

  constructor(private readonly options: ToolServerOptions<Call>) {
    for (const tool of options.tools) {
      this.#tools.set(tool.name, { tool, argumentNames: Object.keys(tool.input.shape) });
    }
    const tools = this.#listed = listTools(options.tools);
    this.#listedText = {
      initialized: JSON.stringify({ tools }),
      stateless: JSON.stringify(this.#stateless({ tools, ...LIST_HINT })),
    };
    this.#serverOptions = {
      capabilities: { tools: {} },
      instructions: options.instructions,
      cacheHints: { "tools/list": LIST_HINT },
      // Never asked, as nothing is elicited; the default one costs a third of a request to make.
      jsonSchemaValidator: { getValidator: refuseToValidate },
    };
    this.#modern = createMcpHandler(
      ({ requestInfo }) => this.#serve(this.#calls.get(requestInfo!)!),
      { legacy: "reject" },
    );
  }

  /**
   * Answers one JSON-RPC message.
   * @param message parsed, no batch
   * @param headers of the request; Accept and Content-Type are not asked for
   */
  async answer(message: unknown, headers: Headers, call: Call): Promise<Response> {
    const direct = this.#direct.read(message, headers);
    if (direct?.method === "tools/list") return rpcResult(direct, this.#listedText[direct.era]);
    if (direct !== null && this.#tools.has(direct.name)) {
      const result = await this.#run(direct.name, direct.args, call);
      const told = direct.era === "initialized" ? result : this.#stateless(result);
      return rpcResult(direct, JSON.stringify(told));
    }
    const request = protocolRequest(headers);
    if (await isLegacyRequest(request, message)) return await this.#legacy(message, request, call);
    if (asksToListen(message)) return methodNotFound(message);
    this.#calls.set(request, call);
    return await this.#modern.fetch(request, { parsedBody: message });
  }

  async #legacy(message: unknown, request: Request, call: Call): Promise<Response> {
    const server = this.#serve(call);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: message });
    } finally {
      await server.close();
    }
  }

  #serve(call: Call): Server {
    const server = new Server(this.options.info, this.#serverOptions);
    server.setRequestHandler("tools/list", () => ({ tools: this.#listed }));
    server.setRequestHandler("tools/call", async ({ params }) => {
      if (this.#tools.has(params.name)) {
        return await this.#run(params.name, params.arguments ?? {}, call);
      }
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `there is no tool ${JSON.stringify(params.name.slice(0, 64))}; known are: ${
          [...this.#tools.keys()].join(", ")
        }`,
      );
    });
    return server;
  }

  async #run(
    name: string,
    args: Readonly<Record<string, unknown>>,
    call: Call,
  ): Promise<CallToolResult> {
    const { tool, argumentNames } = this.#tools.get(name)!;
    try {
      const { structured, text } = await tool.run(new ToolArguments(args, argumentNames), call);
      return { content: [{ type: "text", text }], structuredContent: structured };
    } catch (failure) {
      const isMeant = failure instanceof RelayError && failure.code !== "internal";
      return toolFailure(isMeant ? failure : this.options.unexpected(failure, call));
    }
  }

  /** A result as the stateless era has it: complete, and from whom. */
  #stateless(result: Record<string, unknown>): Record<string, unknown> {
    const meta = { ...result["_meta"] as object, [SERVER_INFO_META_KEY]: this.options.info };
    return { ...result, resultType: "complete", _meta: meta };
  }
}

function rpcResult({ id }: DirectRequest, result: string): Response {
  const text = `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
  return new Response(text, { headers: { "Content-Type": "application/json" } });
}

/** The request as the SDK wants it, whatever Accept and Content-Type a client sent. */
function protocolRequest(headers: Headers): Request {
  const wanted: Record<string, string> = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
  };
  for (const name of PROTOCOL_HEADERS) {
    const value = headers.get(name);
    if (value !== null) wanted[name] = value;
  }
  return new Request("http://relay.invalid/", { method: "POST", headers: wanted });
}

/** Streams of changes are not served: nothing here changes while the relay runs. */
function asksToListen(message: unknown): boolean {
  return (message as { method?: unknown } | null)?.method === "subscriptions/listen";
}

function methodNotFound(message: unknown): Response {
  const { id = null } = message as { id?: string | number | null };
  return Response.json({
    jsonrpc: "2.0",
    id,
    error: { code: ProtocolErrorCode.MethodNotFound, message: "Method not found" },
  }, { status: 404 });
}

function refuseToValidate(): never {
  throw new Error("no schema is validated by the tool server");
}
