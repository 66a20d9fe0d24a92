/** Requests that the tool server answers without the SDK get the very answers that the SDK gives. */
import assert from "node:assert/strict";
import * as z from "zod";
import { RelayError } from "../../../server/base/errors.ts";
import { DirectRequestReader } from "../../../server/base/tool_server/direct_request.ts";
import { defineTool } from "../../../server/base/tool_server/tool.ts";
import { ToolServer } from "../../../server/base/tool_server/tool_server.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1", title: "Test" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, roots: { listChanged: true } },
};

/** A server of one tool that answers what it was asked for. */
function makeServer(): ToolServer<null> {
  const echo = defineTool<null, z.ZodObject>({
    name: "echo",
    title: "Echo",
    description: "Says it again.",
    hints: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({ value: z.unknown().optional(), fail: z.string().optional() }),
    output: z.looseObject({}),
    run(given) {
      const fail = given.optionalString("fail", "a code");
      if (fail === "rate_limited") {
        throw new RelayError("rate_limited", "slower", { retryAfterMs: 7 });
      }
      if (fail !== undefined) throw new RelayError("not_found", "nowhere");
      return Promise.resolve({
        structured: { value: given.raw("value") },
        text: JSON.stringify(given.raw("value") ?? null),
      });
    },
  });
  return new ToolServer<null>({
    info: { name: "echo", version: "1", title: "Echo server" },
    instructions: "Ask.",
    tools: [echo],
    envelopeBytes: 16_384,
    unexpected: (failure) => {
      throw failure;
    },
  });
}

interface Asked {
  method: string;
  params?: Record<string, unknown>;
  id?: string | number;
}

const ASKED: Asked[] = [
  { method: "tools/list" },
  { method: "tools/list", params: {} },
  { method: "tools/list", id: 'a "quoted" id' },
  { method: "tools/list", id: 0 },
  { method: "tools/list", id: -5 },
  { method: "tools/call", params: { name: "echo" } },
  { method: "tools/call", params: { name: "echo", arguments: {} } },
  {
    method: "tools/call",
    params: {
      name: "echo",
      arguments: { value: { deep: [1, null, { "\u00e4": "\ud83d\ude00" }], n: 1.5e300 } },
    },
  },
  { method: "tools/call", params: { name: "echo", arguments: { fail: "not_found" } } },
  { method: "tools/call", params: { name: "echo", arguments: { fail: "rate_limited" } } },
  { method: "tools/call", params: { name: "echo", arguments: { unknown: 1 } } },
];

async function bodyOf(answer: Response): Promise<unknown> {
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/json");
  return await answer.json();
}

for (const era of ["2025", "2026"] as const) {
  Deno.test(`ToolServer.answer() gives direct requests of ${era} what the SDK gives them`, async () => {
    for (const { method, params = {}, id = 1 } of ASKED) {
      const headers = new Headers(
        era === "2025" ? { "MCP-Protocol-Version": "2025-11-25" } : {
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": method,
          ...(method === "tools/call" ? { "Mcp-Name": "echo" } : {}),
        },
      );
      const whole = era === "2025" ? params : { ...params, _meta: META };
      const message = { jsonrpc: "2.0", id, method, params: whole };
      assert.notEqual(new DirectRequestReader().read(message, headers), null);
      const direct = await bodyOf(await makeServer().answer(message, headers, null));
      // The same request in a form that only the SDK answers.
      const meta = era === "2025" ? {} : META;
      const detour = {
        ...message,
        params: { ...params, _meta: { ...meta, "example.com/detour": true } },
      };
      assert.equal(new DirectRequestReader().read(detour, headers), null);
      const bySdk = await bodyOf(await makeServer().answer(detour, headers, null));
      assert.deepEqual(direct, bySdk);
    }
  });
}

Deno.test("DirectRequestReader.read() leaves to the SDK whatever is not plain", () => {
  const reader = new DirectRequestReader();
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo" } };
  const modernCall = { ...call, params: { ...call.params, _meta: META } };
  const modernHeaders = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "echo",
  };
  const { "io.modelcontextprotocol/clientCapabilities": _, ...incapable } = META;
  const cases: [unknown, Record<string, string>][] = [
    [null, {}],
    ["tools/list", {}],
    [[call], {}],
    [{ ...call, jsonrpc: "1.0" }, {}],
    [{ ...call, id: null }, {}],
    [{ ...call, id: 1.5 }, {}],
    [{ ...call, id: undefined }, {}],
    [{ ...call, extra: 1 }, {}],
    [{ ...call, method: "initialize" }, {}],
    [{ ...call, params: [] }, {}],
    [{ ...call, params: { name: 7 } }, {}],
    [{ ...call, params: { name: "echo", arguments: [] } }, {}],
    [{ ...call, params: { name: "echo", task: {} } }, {}],
    [{ ...call, params: { name: "echo", _meta: { progressToken: 1 } } }, {}],
    [{ jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: "a" } }, {}],
    [{ jsonrpc: "2.0", id: 1, method: "tools/list", params: { name: "echo" } }, {}],
    [call, { "mcp-protocol-version": "2026-07-28" }],
    [call, { "mcp-protocol-version": "1999-01-01" }],
    [call, { "mcp-method": "tools/call" }],
    [modernCall, {}],
    [modernCall, { ...modernHeaders, "mcp-protocol-version": "2025-11-25" }],
    [modernCall, { ...modernHeaders, "mcp-method": "tools/list" }],
    [modernCall, { ...modernHeaders, "mcp-name": "other" }],
    [{ ...call, params: { ...call.params, _meta: incapable } }, modernHeaders],
    [{
      ...call,
      params: {
        ...call.params,
        _meta: { ...META, "io.modelcontextprotocol/clientCapabilities": { roots: 7 } },
      },
    }, modernHeaders],
    [{
      ...call,
      params: {
        ...call.params,
        _meta: {
          ...META,
          "io.modelcontextprotocol/clientInfo": { name: "x".repeat(3000), version: "1" },
        },
      },
    }, modernHeaders],
  ];
  for (const [message, headers] of cases) {
    assert.equal(reader.read(message, new Headers(headers)), null, JSON.stringify(message));
  }
  assert.equal(reader.read(modernCall, new Headers(modernHeaders))?.era, "stateless");
  assert.equal(reader.read(call, new Headers())?.era, "initialized");
});
