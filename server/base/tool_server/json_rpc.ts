/** JSON-RPC 2.0 as the tool servers use it: ids, codes, and errors in the relay's own words. */

export type RpcId = string | number;

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Codes of JSON-RPC (section 5.1) and of the Model Context Protocol. */
export const RpcCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** An MCP-Protocol-Version that none of the eras has. */
  BadRequest: -32000,
  HeaderMismatch: -32020,
  MissingCapability: -32021,
  UnsupportedVersion: -32022,
} as const;

/** Characters of an error's message. */
const LONGEST_MESSAGE = 500;

/**
 * The text for a code when nothing more exact is known. A library's own words are never passed on:
 * they can be as long as the request, or longer.
 */
const WORDS: Readonly<Record<number, string>> = {
  [RpcCode.ParseError]: "Parse error: the request body is not JSON in UTF-8",
  [RpcCode.InvalidRequest]:
    'Invalid Request: send one JSON-RPC message: jsonrpc "2.0", method a string, params an object, id a ' +
    "string or an integer (none in notifications), and no other members",
  [RpcCode.MethodNotFound]:
    "Method not found: the methods here are initialize, ping, server/discover, tools/list and tools/call",
  [RpcCode.InvalidParams]:
    "Invalid params: a member of params, or of its _meta, is missing or has the wrong type; tools/call takes " +
    "name (a string) and arguments (an object)",
  [RpcCode.InternalError]: "Internal error: the request could not be answered; try again later",
  [RpcCode.BadRequest]:
    "Bad Request: the header MCP-Protocol-Version names no version that is spoken here; send the one that " +
    "initialize agreed on",
  [RpcCode.HeaderMismatch]:
    "Bad Request: the headers MCP-Protocol-Version, Mcp-Method and Mcp-Name must be there and say what the body says",
  [RpcCode.MissingCapability]: "Bad Request: the client lacks a capability that this method needs",
  [RpcCode.UnsupportedVersion]: "Unsupported protocol version: see data.supported",
};

/** The id of a message as an answer may repeat it: null for another kind of id, or none. */
export function readRpcId(message: unknown): RpcId | null {
  const id = isRecord(message) ? message["id"] : null;
  return isRpcId(id) ? id : null;
}

/** A request id is a string or an integer. */
export function isRpcId(id: unknown): id is RpcId {
  return typeof id === "string" || Number.isSafeInteger(id);
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface RpcErrorOptions {
  /** HTTP status. */
  status: number;
  id: RpcId | null;
  /** The relay's own words; the code's text unless given. */
  message?: string | undefined;
  data?: unknown;
}

/** A JSON-RPC error as an HTTP answer; its message has at most 500 characters. */
export function rpcError(code: number, { status, id, message, data }: RpcErrorOptions): Response {
  const words = message ?? WORDS[code] ?? "The request was refused";
  const error = {
    code,
    message: words.slice(0, LONGEST_MESSAGE),
    ...(data === undefined ? {} : { data }),
  };
  return Response.json({ jsonrpc: "2.0", id, error }, { status });
}
