/**
 * Bounds the part of a JSON-RPC message that reaches a library. Arguments of tools may be as large
 * as a request, and the tools check them. Everything else is small in every honest message.
 * Checking it against the protocol's schemas costs thousands of times what parsing costs. Pure.
 */
import { Buffer } from "node:buffer";
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/server";
import { isRecord, type JsonRecord } from "./json_rpc.ts";

export interface BoundedMessage {
  /** The message, small: params.arguments is empty in it, and of very many values some are left out. */
  message: unknown;
  /** params.arguments as it came; empty where it is no object. */
  args: JsonRecord;
}

/** Values of a message that are passed on: honest ones have some twenty. */
const MOST_VALUES = 500;
const MOST_MEMBERS = 64;
/** Members that the protocol requires somewhere: they are never left out in favour of others. */
const DEMANDED = new Set([
  ...["jsonrpc", "id", "method", "params", "_meta", "name", "version", "cursor", "arguments"],
  ...["protocolVersion", "capabilities", "clientInfo"],
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
]);

/**
 * @param message as parsed
 * @param limitBytes greatest size of everything but params.arguments, as JSON without spaces, UTF-8
 * @returns null when it is larger
 */
export function boundMessage(message: unknown, limitBytes: number): BoundedMessage | null {
  const values = countValues(message, limitBytes);
  if (values === null) return null;
  const { rest, args } = setArgumentsAside(message);
  return { message: values > MOST_VALUES ? thin(rest) : rest, args };
}

/** How many values a message has outside its arguments, null when they are over the limit; looks no further. */
function countValues(message: unknown, limitBytes: number): number | null {
  const params = isRecord(message) ? message["params"] : undefined;
  const waiting: unknown[] = [message];
  let sizeBytes = 0;
  let values = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    values++;
    if (Array.isArray(value)) {
      sizeBytes += Math.max(2, value.length + 1);
      if (sizeBytes > limitBytes) return null;
      for (const item of value) waiting.push(item);
    } else if (isRecord(value)) {
      sizeBytes += 2;
      let commaBytes = 0;
      for (const name in value) {
        if (value === params && name === "arguments") continue;
        sizeBytes += commaBytes + sizeOfText(name, limitBytes) + 1;
        commaBytes = 1;
        if (sizeBytes > limitBytes) return null;
        waiting.push(value[name]);
      }
    } else {
      sizeBytes += typeof value === "string" ? sizeOfText(value, limitBytes) : String(value).length;
    }
    if (sizeBytes > limitBytes) return null;
  }
  return values;
}

function sizeOfText(text: string, limitBytes: number): number {
  return text.length > limitBytes ? text.length : Buffer.byteLength(JSON.stringify(text));
}

/** Puts an empty value of the same kind in their place. */
function setArgumentsAside(message: unknown): { rest: unknown; args: JsonRecord } {
  if (!isRecord(message)) return { rest: message, args: {} };
  const { params } = message;
  if (!isRecord(params) || !Object.hasOwn(params, "arguments")) return { rest: message, args: {} };
  const given = params["arguments"];
  return {
    rest: { ...message, params: { ...params, arguments: emptyLike(given) } },
    args: isRecord(given) ? given : {},
  };
}

function emptyLike(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  if (isRecord(value)) return {};
  return typeof value === "string" ? "" : value;
}

/**
 * A copy with the outermost values: some of each container, and first those that the protocol
 * requires.
 */
function thin(message: unknown): unknown {
  if (typeof message !== "object" || message === null) return message;
  const copy = emptyLike(message);
  const open: [from: object, to: object][] = [[message, copy as object]];
  let left = MOST_VALUES;
  // Breadth first: the list grows while it is walked.
  for (const [from, to] of open) {
    for (const name of membersOf(from)) {
      if (left-- === 0) return copy;
      const value = (from as JsonRecord)[name];
      const isContainer = typeof value === "object" && value !== null;
      const kept = isContainer ? emptyLike(value) : value;
      Object.defineProperty(to, name, { value: kept, enumerable: true, writable: true });
      if (isContainer) open.push([value, kept as object]);
    }
  }
  return copy;
}

function membersOf(container: object): string[] {
  const names = Object.keys(container);
  if (Array.isArray(container)) return names.slice(0, MOST_MEMBERS);
  const demanded = names.filter((name) => DEMANDED.has(name));
  const others = names.filter((name) => !DEMANDED.has(name));
  return [...demanded, ...others].slice(0, MOST_MEMBERS);
}
