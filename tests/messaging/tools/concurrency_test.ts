/** Concurrent callers with equal JSON-RPC ids: each hears its own answer, whatever path it takes. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../../toolkit/mod.ts";
import { startTestRelay } from "../../support/relay.ts";
import { postRpc, rpcRequest, ToolAgent } from "../../support/tool_client.ts";

const CALLERS = 200;
const MODERN_HEADERS = {
  "MCP-Protocol-Version": "2026-07-28",
  "Mcp-Method": "tools/call",
  "Mcp-Name": "whoami",
};
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Forms that a client may give the same call; the SDK answers the second and fourth. */
const WAYS: { name: string; meta?: JsonValue; headers?: Record<string, string> }[] = [
  { name: "plain calls of 2025" },
  { name: "calls of 2025 with a progress token", meta: { progressToken: 1 } },
  { name: "plain calls of 2026", meta: ENVELOPE, headers: MODERN_HEADERS },
  {
    name: "calls of 2026 with a trace",
    meta: { ...ENVELOPE, traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
    headers: MODERN_HEADERS,
  },
];

for (const { name, meta, headers } of WAYS) {
  Deno.test(`${CALLERS} callers at once with one JSON-RPC id: ${name}`, async () => {
    await using relay = await startTestRelay({
      limits: { toolRegistrationsPerIpPerHour: CALLERS },
    });
    const agents = await Promise.all(
      Array.from({ length: CALLERS }, (_, i) => ToolAgent.register(relay.url, `caller_${i}`)),
    );
    const answers = await Promise.all(agents.map(({ token }) => {
      const params: JsonValue = {
        name: "whoami",
        arguments: { token },
        ...(meta === undefined ? {} : { _meta: meta }),
      };
      return postRpc(relay.url, rpcRequest("tools/call", params, 1), headers);
    }));
    for (const [i, { json, text }] of answers.entries()) {
      assert.equal(json.id, 1);
      assert.equal(json.result?.structuredContent?.handle, `caller_${i}`, text);
      assert.equal(json.result.structuredContent.address, agents[i]!.address);
    }
  });
}

Deno.test(`${CALLERS} sends at once with one JSON-RPC id: each sender hears of its own message`, async () => {
  await using relay = await startTestRelay({ limits: { toolRegistrationsPerIpPerHour: CALLERS } });
  const agents = await Promise.all(
    Array.from({ length: CALLERS }, (_, i) => ToolAgent.register(relay.url, `caller_${i}`)),
  );
  const answers = await Promise.all(agents.map(({ token }, i) => {
    const to = `caller_${(i + 1) % CALLERS}`;
    const params = { name: "send_message", arguments: { token, to, body: `from ${i}` } };
    return postRpc(relay.url, rpcRequest("tools/call", params, "same"));
  }));
  const ids = answers.map(({ json }) => json.result.structuredContent.id);
  assert.equal(new Set(ids).size, CALLERS);
  const inboxes = await Promise.all(agents.map((agent) => agent.done("check_inbox")));
  for (const [i, { messages }] of inboxes.entries()) {
    const sender = (i + CALLERS - 1) % CALLERS;
    assert.deepEqual(messages.map(({ body }: { body: unknown }) => body), [{
      text: `from ${sender}`,
    }]);
    assert.equal(messages[0].id, ids[sender]);
  }
});
