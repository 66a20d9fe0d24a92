/** Batches of protocol 2025-03-26: an array of answers, each as if its request had come alone. */
import assert from "node:assert/strict";
import { ask } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";
import { postRpc, rpcRequest, ToolAgent } from "../../support/tool_client.ts";

const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
const INITIALIZE = rpcRequest("initialize", {
  protocolVersion: "2025-03-26",
  capabilities: {},
  clientInfo: { name: "a", version: "1" },
});
const ping = (id: string | number) => rpcRequest("ping", {}, id);
const batchOf = (messages: string[]) => `[${messages.join(",")}]`;

Deno.test("/mcp answers a batch as one array, in order, each as if it had come alone", async () => {
  await using relay = await startTestRelay();
  const agent = await ToolAgent.register(relay.url, "agent");
  const whoami = rpcRequest("tools/call", { name: "whoami", arguments: { token: agent.token } }, 3);
  const refused = rpcRequest("tools/call", { name: "whoami", arguments: {} }, "four");
  const messages = [
    ping(2),
    NOTIFICATION,
    whoami,
    refused,
    rpcRequest("no/such/method", {}, 5),
    "7",
    "[]",
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    rpcRequest("tools/list", {}, 1),
    rpcRequest("ping", { _meta: { filler: "x".repeat(17_000) } }, 9),
  ];
  const ways: Record<string, string>[] = [{}, { "MCP-Protocol-Version": "2025-03-26" }];
  for (const headers of ways) {
    const { status, json, headers: given } = await postRpc(relay.url, batchOf(messages), headers);
    assert.equal(status, 200);
    assert.equal(given.get("content-type"), "application/json");
    const alone = [];
    for (const message of messages.filter((one) => one !== NOTIFICATION && one !== "[]")) {
      alone.push((await postRpc(relay.url, message, headers)).json);
    }
    const inner = json.splice(5, 1)[0];
    assert.deepEqual(json, alone);
    assert.deepEqual([inner.id, inner.error.code], [null, -32600]);
  }
});

Deno.test("/mcp does what a batch asks for one after the other", async () => {
  await using relay = await startTestRelay();
  const agent = await ToolAgent.register(relay.url, "agent");
  const send = (body: string, id: number) =>
    rpcRequest("tools/call", {
      name: "send_message",
      arguments: { token: agent.token, to: "agent", body },
    }, id);
  const check = rpcRequest("tools/call", {
    name: "check_inbox",
    arguments: { token: agent.token },
  }, 3);
  const { json } = await postRpc(relay.url, batchOf([send("one", 1), send("two", 2), check]));
  const [one, two, inbox] = json.map((
    { result }: { result: { structuredContent: unknown } },
  ) => result.structuredContent);
  assert.deepEqual(inbox.messages.map(({ id }: { id: number }) => id), [one.id, two.id]);
});

Deno.test("/mcp answers a batch of notifications with 202 and nothing", async () => {
  await using relay = await startTestRelay();
  const answer = await postRpc(relay.url, batchOf([NOTIFICATION, NOTIFICATION]));
  assert.equal(answer.status, 202);
  assert.equal(answer.text, "");
});

Deno.test("/mcp takes 1 to 16 messages in a batch, no initialize, and of no other version", async () => {
  await using relay = await startTestRelay();
  const pings = (count: number) => batchOf(Array.from({ length: count }, (_, i) => ping(i)));
  const whole = await postRpc(relay.url, pings(16));
  assert.equal(whole.status, 200);
  assert.deepEqual(whole.json.map(({ id }: { id: number }) => id), [...Array(16).keys()]);
  const refused: [string, Record<string, string>?][] = [
    ["[]"],
    [pings(17)],
    [batchOf([INITIALIZE])],
    [batchOf([ping(1), INITIALIZE])],
    ...["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01", "2025-03-26 x"].map(
      (version): [string, Record<string, string>] => [
        pings(1),
        { "MCP-Protocol-Version": version },
      ],
    ),
  ];
  for (const [body, headers] of refused) {
    const answer = await postRpc(relay.url, body, headers);
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.json.error.code, -32600);
    assert.equal(answer.json.id, null);
  }
});

Deno.test("a batch meets the bounds of the route: 512 KiB, and the relay's own Host", async () => {
  await using relay = await startTestRelay();
  const large = batchOf([ping(1)]) + " ".repeat(512 * 1024);
  assert.equal((await postRpc(relay.url, large)).status, 413);
  const page = await ask(`${relay.url}/mcp`, {
    method: "POST",
    headers: { Origin: "https://evil.example" },
    body: batchOf([ping(1)]),
  });
  assert.equal(page.status, 403);
});

Deno.test("a batch that was done is answered, however many large answers are not taken yet", async () => {
  const bounds = { totalBytes: 1_000_000, anybodyBytes: 50_000, idleMs: 30_000 };
  await using relay = await startTestRelay({ relay: { answers: { bounds } } });
  const [alice] = await registerAgents(relay, "alice");
  const agent = await ToolAgent.register(relay.url, "agent");
  for (let i = 0; i < 2; i++) await alice.sent({ to: "agent", body: `${i}`.repeat(60_000) });
  const outbox = new Request(`${relay.url}/v1/outbox`, {
    headers: { Authorization: `Bearer ${alice.ownerToken}` },
  });
  const untaken = await relay.relay.app.fetch(outbox);
  assert.equal(untaken.status, 200);
  const check = { name: "check_inbox", arguments: { token: agent.token } };
  const messages = [ping(1), rpcRequest("tools/call", check, 2)];
  const { status, json } = await postRpc(relay.url, batchOf(messages));
  assert.equal(status, 200, JSON.stringify(json));
  assert.equal(json[1].result.structuredContent.messages.length, 2);
  await untaken.body!.cancel();
});
