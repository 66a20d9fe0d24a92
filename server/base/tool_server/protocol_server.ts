/**
 * Serves the whole protocol with its SDK, for requests that are not plain enough for
 * direct_request.ts. Every request gets a new instance of the SDK's server: shared ones give
 * concurrent callers each other's answers.
 *
 * There are two eras of the protocol. Versions 2024-10-07 to 2025-11-25 begin with `initialize`;
 * 2026-07-28 says everything in each request. Both get JSON answers, with errors in the relay's own
 * words (json_rpc.ts).
 */
import {
  type CallToolResult,
  createMcpHandler,
  type Implementation,
  isLegacyRequest,
  isSpecType,
  type McpHttpHandler,
  ProtocolError,
  Server,
  type ServerOptions,
  type Tool as ListedTool,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { isRecord, readRpcId, RpcCode, rpcError } from "./json_rpc.ts";

export interface ProtocolServerOptions {
  info: Implementation;
  /** Sent to clients when they connect. */
  instructions: string;
  tools: readonly ListedTool[];
  /** How long clients may keep the list of tools. */
  listHint: { ttlMs: number; cacheScope: "public" | "private" };
}

/** One request as the SDK serves it. */
interface Exchange {
  /** Runs the tool that is called. */
  run(name: string): Promise<CallToolResult>;
  /** What exactly is wrong with the request, if our own handlers found it out. */
  words?: string;
}

/** The headers of a request that the SDK reads; it would only misread the others. */
const PROTOCOL_HEADERS = ["mcp-protocol-version", "mcp-method", "mcp-name"];
/** Characters of one of them; no value that means anything is longer. */
const LONGEST_HEADER = 1_000;
/** How many characters of a requested name an error repeats. */
const LONGEST_ECHO = 48;

/** What the parameters of the methods must be, of the era that begins with initialize. */
const WELL_FORMED: Readonly<Record<string, (message: unknown) => boolean>> = {
  "initialize": isSpecType.InitializeRequest,
  "ping": isSpecType.PingRequest,
  "tools/list": isSpecType.ListToolsRequest,
  "tools/call": isSpecType.CallToolRequest,
};

export class ProtocolServer {
  readonly #serverOptions: ServerOptions;
  readonly #modern: McpHttpHandler;
  readonly #exchanges = new WeakMap<Request, Exchange>();

  constructor(private readonly options: ProtocolServerOptions) {
    this.#serverOptions = {
      capabilities: { tools: {} },
      instructions: options.instructions,
      cacheHints: { "tools/list": options.listHint },
      // Never called, as nothing is elicited; making the default one costs a third of a request.
      jsonSchemaValidator: { getValidator: refuseToValidate },
    };
    this.#modern = createMcpHandler(
      ({ requestInfo }) => this.#serve(this.#exchanges.get(requestInfo!)!),
      { legacy: "reject" },
    );
  }

  /**
   * Answers one JSON-RPC message.
   * @param message small (bound_message.ts); no batch
   * @param headers of the request; Accept and Content-Type are not asked for
   * @param run runs a tool, with the arguments as they came
   */
  async answer(message: unknown, headers: Headers, run: Exchange["run"]): Promise<Response> {
    const id = readRpcId(message);
    // A null id would pass for a notification, and an array for a batch.
    if (!isRecord(message) || (Object.hasOwn(message, "id") && id === null)) {
      return rpcError(RpcCode.InvalidRequest, { status: 400, id });
    }
    const request = protocolRequest(headers);
    const exchange: Exchange = { run };
    const answer = await isLegacyRequest(request, message)
      ? await this.#answerLegacy(message, request, exchange)
      : await this.#answerModern(message, request, exchange);
    return await inOwnWords(answer, message, exchange);
  }

  async #answerLegacy(
    message: Readonly<Record<string, unknown>>,
    request: Request,
    exchange: Exchange,
  ): Promise<Response> {
    const id = readRpcId(message);
    const isWellFormed = Object.hasOwn(WELL_FORMED, String(message["method"]))
      ? WELL_FORMED[String(message["method"])]!
      : null;
    if (id !== null && isWellFormed !== null && !isWellFormed(message)) {
      return rpcError(RpcCode.InvalidParams, { status: 200, id });
    }
    const server = this.#serve(exchange);
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

  async #answerModern(message: unknown, request: Request, exchange: Exchange): Promise<Response> {
    // Streams of changes are not served: nothing here changes while the relay runs.
    if ((message as { method?: unknown }).method === "subscriptions/listen") {
      return rpcError(RpcCode.MethodNotFound, { status: 404, id: readRpcId(message) });
    }
    this.#exchanges.set(request, exchange);
    return await this.#modern.fetch(request, { parsedBody: message });
  }

  #serve(exchange: Exchange): Server {
    const { info, tools } = this.options;
    const refuse = (words: string): never => {
      exchange.words = words;
      throw new ProtocolError(RpcCode.InvalidParams, words);
    };
    const server = new Server(info, this.#serverOptions);
    server.setRequestHandler(
      "tools/list",
      ({ params }) =>
        params?.cursor === undefined
          ? { tools: [...tools] }
          : refuse("Invalid params: the list of tools is one page; leave out cursor"),
    );
    server.setRequestHandler("tools/call", async ({ params }) => {
      const names = tools.map(({ name }) => name);
      if (names.includes(params.name)) return await exchange.run(params.name);
      const asked = JSON.stringify(params.name.slice(0, LONGEST_ECHO));
      return refuse(`there is no tool ${asked}; known are: ${names.join(", ")}`);
    });
    return server;
  }
}

/** The SDK's answer, with errors in our words; a failure of the SDK is an error of the relay. */
async function inOwnWords(
  answer: Response,
  message: unknown,
  { words }: Exchange,
): Promise<Response> {
  const { status } = answer;
  const text = await answer.text();
  if (text === "" && status < 400) return new Response(null, { status });
  if (status >= 500 || text === "") throw new Error(`the protocol's library answered ${status}`);
  const { error } = JSON.parse(text);
  if (error === undefined) {
    return new Response(text, { status, headers: { "Content-Type": "application/json" } });
  }
  const { code, data } = error;
  return rpcError(code, {
    status,
    id: readRpcId(message),
    message: code === RpcCode.InvalidParams ? words : undefined,
    data: code === RpcCode.UnsupportedVersion ? versionsOf(data) : undefined,
  });
}

/** What a client needs to choose another version, the one it asked for cut short. */
function versionsOf(
  { supported, requested }: { supported: string[]; requested?: unknown },
): Record<string, unknown> {
  return {
    supported,
    ...(requested === undefined ? {} : { requested: String(requested).slice(0, LONGEST_ECHO) }),
  };
}

/** The request as the SDK needs it, whatever Accept and Content-Type a client sent. */
function protocolRequest(headers: Headers): Request {
  const wanted: Record<string, string> = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
  };
  for (const name of PROTOCOL_HEADERS) {
    const value = headers.get(name);
    if (value !== null) wanted[name] = value.slice(0, LONGEST_HEADER);
  }
  return new Request("http://relay.invalid/", { method: "POST", headers: wanted });
}

function refuseToValidate(): never {
  throw new Error("no schema is validated by the tool server");
}
