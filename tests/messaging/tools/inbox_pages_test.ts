/** Pages of check_inbox. */
import assert from "node:assert/strict";
import { ask, assertStatus } from "../../support/answer.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";

Deno.test("check_inbox pages from the oldest, says where to go on, and gives unread alone when asked", async () => {
  await using relay = await startTestRelay({ limits: { inboxPollIntervalMs: 0 } });
  const tool = await ToolAgent.register(relay.url, "tool_agent");
  const [sender] = await registerAgents(relay, "sender");
  const ids: number[] = [];
  for (let i = 0; i < 3; i++) ids.push(await sender.sent({ to: "tool_agent", body: i }));
  const first = await tool.call("check_inbox", { limit: 2 });
  assert.deepEqual(first.structured.messages.map(({ id }: { id: number }) => id), ids.slice(0, 2));
  assert.ok(first.text.includes(`more messages wait: call again with since=${ids[1]}`), first.text);
  const rest = await tool.call("check_inbox", { since: ids[1]!, limit: 0 });
  assert.deepEqual(rest.structured.messages.map(({ id }: { id: number }) => id), [ids[2]]);
  assert.equal(rest.text.includes("more messages wait"), false);
  assert.deepEqual((await tool.done("check_inbox", { unread_only: true })).messages, []);
  assert.equal((await tool.done("check_inbox", { limit: 9999, since: -4 })).messages.length, 3);
  const empty = await tool.done("check_inbox", { since: ids[2]! });
  assert.deepEqual(empty, { messages: [], last_id: ids[2], trust: "unverified sender content" });
  // Nonces are fresh.
  const nonce = (text: string) => /begin (\S+)/.exec(text)?.[1];
  const again = await tool.call("check_inbox", {});
  assert.notEqual(nonce(again.text), undefined, again.text);
  assert.notEqual(nonce(again.text), nonce((await tool.call("check_inbox", {})).text));
  assertStatus(await ask(`${relay.url}/health`), 200);
});
