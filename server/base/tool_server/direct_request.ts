/**
 * Recognises the two requests that make up nearly all traffic, tools/list and tools/call, in the
 * plain form that clients send. The SDK spends three times as long on such a request as the relay
 * on its work. The SDK answers every other request and every error. Pure.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isSpecType,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { BoundedMap } from "../bounds/bounded_map.ts";
import { isRecord, isRpcId, type JsonRecord, type RpcId } from "./json_rpc.ts";

export type Era = "initialized" | "stateless";

export type DirectRequest =
  & {
    id: RpcId;
    /** Whether the client began with `initialize` (until 2025-11-25) or says all in each request. */
    era: Era;
  }
  & (
    | { method: "tools/list" }
    | { method: "tools/call"; name: string }
  );

const STATELESS_VERSION = "2026-07-28";
const REMEMBERED_ENVELOPES = 1_000;
/** UTF-16 units; longer ones are left to the SDK, so that the memory stays small. */
const LONGEST_ENVELOPE = 2_000;

/** Reads direct requests; remembers which envelopes of clients are valid. */
export class DirectRequestReader {
  readonly #sound = new BoundedMap<string, boolean>(REMEMBERED_ENVELOPES);

  /**
   * @param message small (bound_message.ts)
   * @returns null for what the SDK must answer
   */
  read(message: unknown, headers: Headers): DirectRequest | null {
    if (!isRecord(message) || message["jsonrpc"] !== "2.0") return null;
    const { id, method, params = {}, ...others } = message;
    if (method !== "tools/list" && method !== "tools/call") return null;
    if (!isRpcId(id) || !isRecord(params) || Object.keys(others).length !== 1) return null;
    const { _meta: envelope, name, arguments: args = {}, ...rest } = params;
    if (Object.keys(rest).length > 0) return null;
    const isCall = method === "tools/call";
    if (isCall ? typeof name !== "string" || !isRecord(args) : "name" in params) return null;
    const era = this.#era(envelope, method, isCall ? name as string : undefined, headers);
    if (era === null) return null;
    return isCall
      ? { id, era, method, name: name as string }
      : "arguments" in params
      ? null
      : { id, era, method };
  }

  #era(
    envelope: unknown,
    method: string,
    name: string | undefined,
    headers: Headers,
  ): Era | null {
    const version = headers.get("mcp-protocol-version");
    const methodHeader = headers.get("mcp-method");
    const nameHeader = headers.get("mcp-name");
    if (envelope === undefined) {
      if (methodHeader !== null || nameHeader !== null) return null;
      return version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
        ? "initialized"
        : null;
    }
    const agrees = version === STATELESS_VERSION && methodHeader === method &&
      nameHeader === (name ?? null);
    return agrees && isRecord(envelope) && this.#isSound(envelope) ? "stateless" : null;
  }

  #isSound(envelope: JsonRecord): boolean {
    const text = JSON.stringify(envelope);
    if (text.length > LONGEST_ENVELOPE) return false;
    const known = this.#sound.get(text);
    if (known !== undefined) return known;
    const sound = isSoundEnvelope(envelope);
    this.#sound.set(text, sound);
    return sound;
  }
}

function isSoundEnvelope(envelope: JsonRecord): boolean {
  const {
    [PROTOCOL_VERSION_META_KEY]: version,
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    [CLIENT_INFO_META_KEY]: info,
    ...others
  } = envelope;
  return version === STATELESS_VERSION && Object.keys(others).length === 0 &&
    isSpecType.ClientCapabilities(capabilities) &&
    (info === undefined || isSpecType.Implementation(info));
}
