/**
 * A tool server over Streamable HTTP, stateless: every request is served by a fresh instance of the
 * SDK's server, since shared ones give concurrent callers each other's answers.
 *
 * Two eras of the protocol: 2024-10-07 to 2025-11-25 begin with `initialize`, 2026-07-28 says all in
 * each request. Both get JSON answers.
 */
import {
  createMcpHandler,
  type Implementation,
  isLegacyRequest,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerOptions,
  type Tool as ListedTool,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { RelayError } from "../errors.ts";
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
/** The headers of a request that the SDK reads; the rest it would only misread. */
const PROTOCOL_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name"];

export class ToolServer<Call> {
  readonly #tools = new Map<string, { tool: Tool<Call>; argumentNames: string[] }>();
  readonly #listed: ListedTool[];
  readonly #serverOptions: ServerOptions;
  readonly #modern: McpHttpHandler;
  readonly #calls = new WeakMap<Request, Call>();

  constructor(private readonly options: ToolServerOptions<Call>) {
    for (const tool of options.tools) {
      this.#tools.set(tool.name, { tool, argumentNames: Object.keys(tool.input.shape) });
    }
    this.#listed = listTools(options.tools);
    this.#serverOptions = {
      capabilities: { tools: {} },
      instructions: options.instructions,
      cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "public" } },
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
      const known = this.#tools.get(params.name);
      if (known === undefined) {
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `there is no tool ${JSON.stringify(params.name)}; known are: ${
            [...this.#tools.keys()].join(", ")
          }`,
        );
      }
      try {
        const given = new ToolArguments(params.arguments ?? {}, known.argumentNames);
        const { structured, text } = await known.tool.run(given, call);
        return { content: [{ type: "text", text }], structuredContent: structured };
      } catch (failure) {
        const refusal = failure instanceof RelayError && failure.code !== "internal"
          ? failure
          : this.options.unexpected(failure, call);
        return toolFailure(refusal);
      }
    });
    return server;
  }
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
