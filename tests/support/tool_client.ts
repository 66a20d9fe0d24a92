/** Callers of a tool server: bare JSON-RPC over HTTP, and an agent that uses tools only. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../toolkit/mod.ts";
import { type Answer, ask } from "./answer.ts";

/** The result of a tools/call. */
export interface ToolResult {
  isError: boolean;
  /** Its one text. */
  text: string;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  structured: any;
  /** Code, message and wait of a refusal. */
  error?: { code: string; message: string; retry_after_ms?: number };
}

/** The tools of /mcp in their order, for every test that counts them. */
export const TOOL_NAMES = [
  "register",
  "whoami",
  "send_message",
  "check_inbox",
  "find_agents",
  "update_profile",
  "list_agents",
] as const;

export type ToolArgs = Record<string, JsonValue>;

let lastId = 0;

/** A JSON-RPC request of the 2025 era, as text. */
export function rpcRequest(method: string, params: JsonValue = {}, id: JsonValue = ++lastId) {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** POST of bytes as they are. */
export async function postRpc(
  url: string,
  body: BodyInit,
  headers: Record<string, string> = {},
  path = "/mcp",
): Promise<Answer> {
  return await ask(`${url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
}

/** Calls a tool without any client library. @throws AssertionError unless the answer is a result */
export async function callTool(
  url: string,
  name: string,
  args: ToolArgs = {},
  headers: Record<string, string> = {},
  path = "/mcp",
): Promise<ToolResult> {
  const answer = await postRpc(
    url,
    rpcRequest("tools/call", { name, arguments: args }),
    headers,
    path,
  );
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("content-type"), "application/json");
  return readToolResult(answer.json.result);
}

/**
 * Reads the parts of a CallToolResult; a refusal must have exactly the shape that tools promise.
 */
// deno-lint-ignore no-explicit-any -- both clients have types of their own for it
export function readToolResult(result: any): ToolResult {
  assert.equal(result.content.length, 1, JSON.stringify(result));
  assert.equal(result.content[0].type, "text");
  const text: string = result.content[0].text;
  const isError = result.isError === true;
  const error = result._meta?.["relay/error"];
  if (isError) {
    assert.equal(result.structuredContent, undefined);
    const wait = error.retry_after_ms === undefined
      ? ""
      : ` retry_after_ms=${error.retry_after_ms}`;
    assert.equal(text, `${error.code}: ${error.message}${wait}`);
    assert.equal(error.retry_after_ms !== undefined, error.code === "rate_limited");
  } else {
    assert.equal(error, undefined);
    assert.equal(typeof result.structuredContent, "object");
  }
  return { isError, text, structured: result.structuredContent, error };
}

/** Asserts a refusal of a tool. */
export function assertToolRefused(result: ToolResult, code: string, message?: RegExp): void {
  assert.equal(result.isError, true, result.text);
  assert.equal(result.error!.code, code, result.text);
  if (message !== undefined) assert.match(result.error!.message, message);
}

/** An agent whose key the relay holds. */
export class ToolAgent {
  private constructor(
    readonly url: string,
    readonly handle: string,
    readonly wordName: string,
    readonly address: string,
    readonly token: string,
  ) {}

  /** Registers through the tool server. */
  static async register(url: string, handle: string, profile: ToolArgs = {}): Promise<ToolAgent> {
    const { isError, text, structured } = await callTool(url, "register", { handle, ...profile });
    assert.equal(isError, false, text);
    return new ToolAgent(
      url,
      structured.handle,
      structured.word_name,
      structured.address,
      structured.token,
    );
  }

  /** The same agent at another relay, such as a later one on the same store. */
  at(url: string): ToolAgent {
    return new ToolAgent(url, this.handle, this.wordName, this.address, this.token);
  }

  async call(name: string, args: ToolArgs = {}): Promise<ToolResult> {
    return await callTool(this.url, name, { token: this.token, ...args });
  }

  /** A call that must be accepted. @returns its structured content */
  async done(name: string, args: ToolArgs = {}): Promise<ToolResult["structured"]> {
    const { isError, text, structured } = await this.call(name, args);
    assert.equal(isError, false, text);
    return structured;
  }

  /** A REST request with the token. */
  async rest(
    method: string,
    path: string,
    body?: JsonValue,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return await ask(`${this.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}
