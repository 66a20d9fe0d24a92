/**
 * Both generations of the official client, each in every version of the protocol that it speaks.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { readToolResult, type ToolArgs, type ToolResult } from "./tool_client.ts";

export interface OfficialClient extends AsyncDisposable {
  call(name: string, args?: ToolArgs): Promise<ToolResult>;
  // deno-lint-ignore no-explicit-any -- the clients have types of their own for it
  listTools(): Promise<any[]>;
  serverInfo(): { name: string; version: string } | undefined;
  instructions(): string | undefined;
}

export interface ClientKind {
  name: string;
  /** @param path "/mcp" unless given */
  connect(url: string, headers?: Record<string, string>, path?: string): Promise<OfficialClient>;
}

const INFO = { name: "test", version: "1" };
type Negotiation = "legacy" | "auto" | { pin: string };

/** The parts that both clients' classes have in common. */
interface AnyClient {
  // deno-lint-ignore no-explicit-any -- see listTools
  callTool(params: { name: string; arguments: ToolArgs }): Promise<any>;
  // deno-lint-ignore no-explicit-any -- see listTools
  listTools(): Promise<{ tools: any[] }>;
  getServerVersion(): { name: string; version: string } | undefined;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

function wrap(client: AnyClient): OfficialClient {
  return {
    call: async (name, args = {}) =>
      readToolResult(await client.callTool({ name, arguments: args })),
    listTools: async () => (await client.listTools()).tools,
    serverInfo: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function second(name: string, mode: Negotiation): ClientKind {
  return {
    name,
    async connect(url, headers = {}, path = "/mcp") {
      const client = new Client(INFO, { versionNegotiation: { mode } });
      const requestInit = { headers };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}${path}`), { requestInit }),
      );
      return wrap(client as unknown as AnyClient);
    },
  };
}

export const officialClients: readonly ClientKind[] = [
  {
    name: "client 1.x",
    async connect(url, headers = {}, path = "/mcp") {
      const client = new FirstClient(INFO);
      const requestInit = { headers };
      await client.connect(new FirstTransport(new URL(`${url}${path}`), { requestInit }));
      // This client checks structuredContent against the schemas that the server listed.
      await client.listTools();
      return wrap(client as unknown as AnyClient);
    },
  },
  second("client 2.x beginning with initialize", "legacy"),
  second("client 2.x finding out", "auto"),
  second("client 2.x of 2026-07-28", { pin: "2026-07-28" }),
];
