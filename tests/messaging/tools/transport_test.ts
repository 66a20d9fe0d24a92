/** POST /mcp as HTTP: methods, bodies, Accept, and what JSON-RPC says of malformed requests. */
import assert from "node:assert/strict";
import { type Answer, ask, assertErrorShape, assertRefused } from "../../support/answer.ts";
import { askRaw } from "../../support/raw_request.ts";
import { startTestRelay } from "../../support/relay.ts";
import { postRpc, rpcRequest } from "../../support/tool_client.ts";

const LIST = rpcRequest("tools/list");
const encoder = new TextEncoder();

function assertListed(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.result.tools[0].name, "register");
  assert.notEqual(answer.headers.get("x-request-id"), null);
}

Deno.test("/mcp takes POST alone: GET, HEAD, DELETE and others are 405 with Allow", async () => {
  await using relay = await startTestRelay();
  for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
    const answer = await ask(`${relay.url}/mcp`, {
      method,
      headers: { Accept: "text/event-stream" },
    });
    assertRefused(answer, "method_not_allowed");
    assert.equal(answer.headers.get("allow"), "POST, OPTIONS");
  }
  const head = await ask(`${relay.url}/mcp`, { method: "HEAD" });
  assert.equal(head.status, 405);
  assert.equal(head.headers.get("allow"), "POST, OPTIONS");
});

Deno.test("/mcp answers whatever Accept and Content-Type say, as JSON, without a session", async () => {
  await using relay = await startTestRelay();
  const initialize = rpcRequest("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "a", version: "1" },
  });
  for (
    const headers of [
      {},
      { Accept: "application/json" },
      { Accept: "*/*" },
      { Accept: "text/event-stream" },
      { Accept: "text/html" },
      { Accept: "" },
      { Accept: "application/json;q=0.1, text/event-stream" },
      { "Content-Type": "text/plain" },
      { "Content-Type": "application/json; charset=utf-8" },
    ] as Record<string, string>[]
  ) {
    assertListed(await postRpc(relay.url, LIST, headers));
    const answer = await postRpc(relay.url, initialize, headers);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "application/json");
    assert.equal(answer.headers.get("mcp-session-id"), null);
    assert.equal(answer.json.result.protocolVersion, "2025-06-18");
  }
  const bare = await askRaw(relay.port, {
    method: "POST",
    target: "/mcp",
    body: encoder.encode(LIST),
  });
  assertListed(bare);
});

Deno.test("/mcp speaks every version since 2024-10-07, and offers the newest for any other", async () => {
  await using relay = await startTestRelay();
  const negotiate = async (protocolVersion: string) => {
    const clientInfo = { name: "a", version: "1" };
    const params = { protocolVersion, capabilities: {}, clientInfo };
    const answer = await postRpc(relay.url, rpcRequest("initialize", params));
    assert.equal(answer.status, 200, answer.text);
    return answer.json.result.protocolVersion;
  };
  for (const version of ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
    assert.equal(await negotiate(version), version);
    const headers = { "MCP-Protocol-Version": version };
    assertListed(await postRpc(relay.url, LIST, headers));
  }
  assert.equal(await negotiate("1999-01-01"), "2025-11-25");
  const unknown = await postRpc(relay.url, LIST, { "MCP-Protocol-Version": "1999-01-01" });
  assert.equal(unknown.status, 400);
  assert.equal(unknown.json.jsonrpc, "2.0");
});

Deno.test("/mcp refuses anything that is no JSON-RPC message, as JSON-RPC says", async () => {
  await using relay = await startTestRelay();
  const cases: [BodyInit, number, (number | string)?][] = [
    ["", -32700],
    ["{", -32700],
    ["null", -32600],
    ["5", -32600],
    ['"text"', -32600],
    [new Uint8Array([0x7b, 0xff, 0x7d]), -32700],
    ['{"jsonrpc":"1.0","id":1,"method":"tools/list"}', -32600, 1],
    ['{"id":1,"method":"tools/list"}', -32600, 1],
    // A request id is a string or an integer: no other is repeated.
    ['{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":1e300,"method":"initialize"}', -32600],
    ['{"jsonrpc":"2.0","id":[1],"method":"initialize"}', -32600],
    ['{"jsonrpc":"2.0","id":"x","method":7}', -32600, "x"],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', -32600, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","extra":1}', -32600, 1],
  ];
  for (const [body, code, id = null] of cases) {
    const answer = await postRpc(relay.url, body);
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.json.error.code, code, `${body}: ${answer.text}`);
    assert.equal(answer.json.jsonrpc, "2.0");
    assert.equal(answer.json.id, id);
  }
});

Deno.test("/mcp tells unknown methods and tools and malformed calls as JSON-RPC errors with their id", async () => {
  await using relay = await startTestRelay();
  const cases: [string, unknown, number][] = [
    ["no/such/method", {}, -32601],
    ["resources/list", {}, -32601],
    ["subscriptions/listen", {}, -32601],
    ["tools/call", { name: "no_such_tool", arguments: {} }, -32602],
    ["tools/call", {}, -32602],
    ["tools/call", { name: 7 }, -32602],
    ["tools/call", { name: "whoami", arguments: "token" }, -32602],
    ["tools/call", { name: "whoami", arguments: ["token"] }, -32602],
    ["tools/call", { name: "whoami", arguments: [] }, -32602],
    ["tools/call", { name: "whoami", arguments: null }, -32602],
    ["tools/call", { name: "whoami", arguments: 5 }, -32602],
    ["tools/call", { name: "x".repeat(9_000), arguments: {} }, -32602],
    ["tools/list", { cursor: "" }, -32602],
    ["tools/list", { cursor: "next" }, -32602],
    ["tools/list", { cursor: null }, -32602],
    ["initialize", {}, -32602],
    ["initialize", { protocolVersion: 1, capabilities: {}, clientInfo: {} }, -32602],
  ];
  for (const [method, params, code] of cases) {
    const answer = await postRpc(relay.url, rpcRequest(method, params as never, "an id"));
    assert.equal(answer.status, 200, `${method} ${answer.text}`);
    assert.equal(answer.json.error?.code, code, `${method} ${answer.text}`);
    assert.equal(answer.json.id, "an id");
    assert.equal(answer.json.result, undefined);
    assert.ok(answer.json.error.message.length <= 500, answer.text);
    assert.deepEqual(Object.keys(answer.json.error), ["code", "message"]);
  }
  const modern = await postRpc(
    relay.url,
    rpcRequest("tools/list", {
      cursor: "next",
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    }, 8),
    { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list" },
  );
  assert.deepEqual([modern.json.id, modern.json.error.code], [8, -32602], modern.text);
  for (const id of ["a", "", 0, -1, 9007199254740991]) {
    const ping = await postRpc(relay.url, rpcRequest("ping", {}, id));
    assert.deepEqual(ping.json, { jsonrpc: "2.0", id, result: {} });
  }
});

Deno.test("/mcp tells what the eras disagree about in words of its own, with the versions to choose from", async () => {
  await using relay = await startTestRelay();
  const ask = (version: string, headers: Record<string, string>) =>
    postRpc(
      relay.url,
      rpcRequest("tools/list", {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": version,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      }, 8),
      headers,
    );
  const current = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list" };
  const never = `1999-${"9".repeat(5_000)}`;
  const cases: [Answer, number, RegExp][] = [
    [await postRpc(relay.url, LIST, { "MCP-Protocol-Version": never }), -32000, /MCP-Protocol/],
    [await ask("2026-07-28", {}), -32020, /must be there/],
    [await ask("2026-07-28", { ...current, "Mcp-Method": "ping" }), -32020, /must be there/],
    [await ask(never, { ...current, "MCP-Protocol-Version": never }), -32020, /must be there/],
    [await ask("2099-01-01", { ...current, "MCP-Protocol-Version": "2099-01-01" }), -32022, /data/],
    [await postRpc(relay.url, LIST, current), -32602, /_meta/],
  ];
  for (const [{ status, json, text }, code, words] of cases) {
    assert.equal(status, 400, text);
    assert.equal(json.error.code, code, text);
    assert.match(json.error.message, words);
    assert.ok(text.length < 700, text);
    assert.deepEqual(
      json.error.data,
      code !== -32022 ? undefined : {
        supported: ["2026-07-28"],
        requested: "2099-01-01",
      },
    );
  }
});

Deno.test("/mcp accepts notifications and answers with 202 and nothing", async () => {
  await using relay = await startTestRelay();
  for (const method of ["notifications/initialized", "notifications/cancelled"]) {
    const body = JSON.stringify({ jsonrpc: "2.0", method, params: { requestId: 1 } });
    const answer = await postRpc(relay.url, body);
    assert.equal(answer.status, 202);
    assert.equal(answer.text, "");
  }
});

Deno.test("/mcp takes at most 512 KiB: one byte more is 413 in the shape of the REST API", async () => {
  await using relay = await startTestRelay();
  const padded = (sizeBytes: number) => LIST + " ".repeat(sizeBytes - LIST.length);
  assertListed(await postRpc(relay.url, padded(512 * 1024)));
  assertRefused(await postRpc(relay.url, padded(512 * 1024 + 1)), "payload_too_large");
  const chunks = async function* () {
    for (let i = 0; i < 9; i++) yield new Uint8Array(64 * 1024).fill(0x20);
  };
  const streamed = await postRpc(relay.url, ReadableStream.from(chunks()));
  assertRefused(streamed, "payload_too_large");
  const encoded = await postRpc(relay.url, LIST, { "Content-Encoding": "gzip" });
  assertRefused(encoded, "invalid_json");
});

Deno.test("/mcp with the right path only", async () => {
  await using relay = await startTestRelay();
  for (const path of ["/mcp/", "/mcp/x", "//mcp", "/MCP", "/mcp%2f", "/%6dcp"]) {
    const answer = await postRpc(relay.url, LIST, {}, path);
    assert.equal(assertErrorShape(answer), "not_found");
  }
  assertListed(await postRpc(relay.url, LIST, {}, "/mcp?session=1"));
});
