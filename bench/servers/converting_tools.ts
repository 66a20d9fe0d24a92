/** The relay's tools on the SDK's high-level server, which converts their schemas for every tools/list. */
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { parseConfig } from "../../server/base/config/config.ts";
import { relayTools } from "../../server/messaging/tools/relay_tools.ts";
import type { ToolServices } from "../../server/messaging/tools/relay_call.ts";
import { answerLines } from "./child.ts";

const { limits } = parseConfig({});
// Listed only, never called: of the services the tools need but the limits that they describe.
const tools = relayTools({ deps: { config: { limits } }, limits } as unknown as ToolServices);

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: () => {} },
  async (request) => {
    const mcp = new McpServer({ name: "converting", version: "1" });
    for (const { name, title, description, hints, input, output } of tools) {
      mcp.registerTool(name, {
        title,
        description,
        annotations: hints,
        inputSchema: input,
        outputSchema: output,
      }, () => ({ content: [] }));
    }
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      enableJsonResponse: true,
    });
    await mcp.connect(transport);
    return await transport.handleRequest(request);
  },
);
console.log(JSON.stringify({ port: server.addr.port }));
await answerLines(() => null);
await server.shutdown();
