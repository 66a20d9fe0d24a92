/**
 * A stateless tool server over Streamable HTTP. It answers the plain requests that make up nearly
 * all traffic. The protocol's SDK answers everything else (protocol_server.ts), after its size was
 * bounded.
 */
import {
  type CallToolResult,
  type Implementation,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { RelayError } from "../errors.ts";
import { boundMessage } from "./bound_message.ts";
import { DirectAnswer } from "./direct_answer.ts";
import { type DirectRequest, DirectRequestReader, type Era } from "./direct_request.ts";
import { isRecord, type JsonRecord, readRpcId, RpcCode, rpcError } from "./json_rpc.ts";
import { listTools } from "./listed_tools.ts";
import { ProtocolServer } from "./protocol_server.ts";
import type { Tool } from "./tool.ts";
import { ToolArguments } from "./tool_arguments.ts";
import { toolFailure } from "./tool_failure.ts";

export interface ToolServerOptions<Call> {
  info: Implementation;
  /** Sent to clients when they connect. */
  instructions: string;
  tools: readonly Tool<Call>[];
  /** Greatest size in bytes of everything of a request but the arguments of its tool. */
  envelopeBytes: number;
  /** Called with every error of a tool that is no RelayError. @returns what the caller gets */
  unexpected(failure: unknown, call: Call): RelayError;
}

/** How long clients may keep the list of tools: it changes only with the relay's version. */
const LIST_TTL_MS = 3_600_000;
const LIST_HINT = { ttlMs: LIST_TTL_MS, cacheScope: "public" } as const;

export class ToolServer<Call> {
  readonly #tools = new Map<string, { tool: Tool<Call>; argumentNames: string[] }>();
  /** The result of tools/list as JSON text. */
  readonly #listedText: Record<Era, string>;
  readonly #direct = new DirectRequestReader();
  readonly #protocol: ProtocolServer;

  constructor(private readonly options: ToolServerOptions<Call>) {
    for (const tool of options.tools) {
      this.#tools.set(tool.name, { tool, argumentNames: Object.keys(tool.input.shape) });
    }
    const { info, instructions } = options;
    const tools = listTools(options.tools);
    this.#listedText = {
      initialized: JSON.stringify({ tools }),
      stateless: JSON.stringify(this.#stateless({ tools, ...LIST_HINT })),
    };
    this.#protocol = new ProtocolServer({ info, instructions, tools, listHint: LIST_HINT });
  }

  /**
   * Answers one JSON-RPC message.
   * @param message parsed, no batch
   * @param headers of the request; Accept and Content-Type are not asked for
   */
  async answer(message: unknown, headers: Headers, call: Call): Promise<Response> {
    const { envelopeBytes } = this.options;
    const bounded = boundMessage(message, envelopeBytes);
    if (bounded === null) return tooLarge(message, envelopeBytes);
    const { args } = bounded;
    const direct = this.#direct.read(bounded.message, headers);
    if (direct?.method === "tools/list") return rpcResult(direct, this.#listedText[direct.era]);
    if (direct !== null && this.#tools.has(direct.name)) {
      const result = await this.#run(direct.name, args, call);
      const told = direct.era === "initialized" ? result : this.#stateless(result);
      return rpcResult(direct, JSON.stringify(told));
    }
    return await this.#protocol.answer(
      bounded.message,
      headers,
      (name) => this.#run(name, args, call),
    );
  }

  async #run(name: string, args: JsonRecord, call: Call): Promise<CallToolResult> {
    const { tool, argumentNames } = this.#tools.get(name)!;
    try {
      const { structured, text } = await tool.run(new ToolArguments(args, argumentNames), call);
      return { content: [{ type: "text", text }], structuredContent: structured };
    } catch (failure) {
      const isMeant = failure instanceof RelayError && failure.code !== "internal";
      return toolFailure(isMeant ? failure : this.options.unexpected(failure, call));
    }
  }

  /** A result in the stateless era's form: complete, and naming the server. */
  #stateless(result: Record<string, unknown>): Record<string, unknown> {
    const meta = { ...result["_meta"] as object, [SERVER_INFO_META_KEY]: this.options.info };
    return { ...result, resultType: "complete", _meta: meta };
  }
}

function rpcResult({ id }: DirectRequest, result: string): Response {
  return new DirectAnswer(`{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`);
}

function tooLarge(message: unknown, envelopeBytes: number): Response {
  const id = readRpcId(message);
  return rpcError(RpcCode.InvalidRequest, {
    status: 400,
    // What is too large may be the id itself.
    id: typeof id === "string" && id.length > envelopeBytes ? null : id,
    message:
      `Invalid Request: everything of a request but params.arguments is at most ${envelopeBytes} bytes; ` +
      (isRecord(message)
        ? "send less in id, method, _meta and the other params"
        : "send an object"),
  });
}
