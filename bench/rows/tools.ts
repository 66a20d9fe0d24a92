/** Tool calls against the same work over REST, and the list of tools against converting it each time. */
import { drive, httpRequest, type LoadedServer } from "../load.ts";
import type { Context, Row } from "../row.ts";
import { startChild } from "../servers/child.ts";

const CONNECTIONS = 64;
const CALLS = 6_000;
const SENDS = 2_500;
const LISTS = 1_500;
const AGENTS = 40;

const encoder = new TextEncoder();
const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

type Era = "2025" | "2026";
interface ToolAgent {
  handle: string;
  token: string;
}
type MakeRequest = (agent: ToolAgent, to: ToolAgent) => Uint8Array;

/** A request of either era of the protocol, as a client of that era sends it. */
function rpcRequest(era: Era, method: string, params: Record<string, unknown> = {}): Uint8Array {
  const headers: Record<string, string> = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": era === "2025" ? "2025-11-25" : "2026-07-28",
  };
  if (era === "2026") {
    headers["mcp-method"] = method;
    if (typeof params["name"] === "string") headers["mcp-name"] = params["name"];
    params = { ...params, _meta: MODERN_META };
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return httpRequest("POST", "/mcp", headers, encoder.encode(body));
}

function toolCall(era: Era, name: string, args: Record<string, unknown>): Uint8Array {
  return rpcRequest(era, "tools/call", { name, arguments: args });
}

async function registerToolAgents(port: number): Promise<ToolAgent[]> {
  return await Promise.all(Array.from({ length: AGENTS }, async (_, i) => {
    const handle = `bench_tool_${i}`;
    const params = { name: "register", arguments: { handle } };
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const { result } = await answer.json();
    if (result.isError) throw new Error(result.content[0].text);
    return { handle, token: result.structuredContent.token };
  }));
}

/** A row of two ways to the same work on one relay. */
function pairRow(
  about: Pick<Row, "id" | "title">,
  ours: MakeRequest,
  reference: MakeRequest,
  count: number,
  referenceStatus: number,
): Row {
  return {
    ...about,
    unit: "/s",
    target: { rule: "at least", ratio: 0.5 },
    async prepare({ temporaryFolder: folder, count: scaled }: Context) {
      const relay = await startChild<{ port: number }>("relay.ts", { folder });
      const agents = await registerToolAgents(relay.ready.port);
      const round = (make: MakeRequest, status: number) =>
        drive(
          relay,
          Array.from(
            { length: scaled(count) },
            (_, i) => make(agents[i % AGENTS]!, agents[(i + 1) % AGENTS]!),
          ),
          { connections: CONNECTIONS, status },
        );
      return {
        ours: () => round(ours, 200),
        reference: () => round(reference, referenceStatus),
        close: relay.stop,
      };
    },
  };
}

function whoamiRow(era: Era, id: string): Row {
  return pairRow(
    { id, title: `tools/call whoami (clients of ${era}) against GET /v1/whoami by the same token` },
    ({ token }) => toolCall(era, "whoami", { token }),
    ({ token }) => httpRequest("GET", "/v1/whoami", { authorization: `Bearer ${token}` }),
    CALLS,
    200,
  );
}

let sequence = 0;
/** A text that no other send has, so that none waits for a second of its own. */
const nextText = () => String(++sequence).padEnd(180, "x");

function sendRow(era: Era, id: string): Row {
  return pairRow(
    {
      id,
      title: `tools/call send_message (clients of ${era}) against POST /v1/messages by token`,
    },
    ({ token }, to) => toolCall(era, "send_message", { token, to: to.handle, body: nextText() }),
    ({ token }, to) =>
      httpRequest(
        "POST",
        "/v1/messages",
        { authorization: `Bearer ${token}` },
        encoder.encode(JSON.stringify({ to: to.handle, body: { text: nextText() } })),
      ),
    SENDS,
    201,
  );
}

export const toolWhoami = whoamiRow("2025", "tool-whoami");
export const toolWhoamiStateless = whoamiRow("2026", "tool-whoami-2026");
export const toolSend = sendRow("2025", "tool-send");
export const toolSendStateless = sendRow("2026", "tool-send-2026");

export const toolsList: Row = {
  id: "tools-list",
  title: "tools/list as listed once against the same schemas converted for each request",
  unit: "/s",
  target: { rule: "at least", ratio: 5 },
  async prepare({ temporaryFolder: folder, count }) {
    const relay = await startChild<{ port: number }>("relay.ts", { folder });
    const converting = await startChild<{ port: number }>("converting_tools.ts", {});
    const round = (server: LoadedServer) =>
      drive(server, Array.from({ length: count(LISTS) }, () => rpcRequest("2025", "tools/list")), {
        connections: CONNECTIONS,
        status: 200,
      });
    return {
      ours: () => round(relay),
      reference: () => round(converting),
      async close() {
        await relay.stop();
        await converting.stop();
      },
    };
  },
};
