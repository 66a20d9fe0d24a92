/** The contract of waiting polls and of unread, told from outside. */
import assert from "node:assert/strict";
import { type Answer, ask, assertRefused, assertStatus } from "../support/answer.ts";
import { settlesWithin } from "../support/pace.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";
import { callTool, ToolAgent } from "../support/tool_client.ts";

/** Longer than any answer here may take, far below the 25 s of a wait that nothing ends. */
const SOON_MS = 10_000;

async function assertWaits(promise: Promise<unknown>): Promise<void> {
  assert.equal(await settlesWithin(promise, 300), false, "it has not waited");
}

async function answeredSoon<T>(promise: Promise<T>): Promise<T> {
  const beganMs = performance.now();
  const answer = await promise;
  assert.ok(performance.now() - beganMs < SOON_MS, "it has waited");
  return answer;
}

/** Starts a poll, and waits until it has come before whatever is asked next. */
async function begin(relay: TestRelay, poll: () => Promise<Answer>): Promise<[Promise<Answer>]> {
  const reached = relay.nextRequests();
  const begun = poll();
  await reached;
  return [begun];
}

Deno.test("a waiting poll is woken by a message, ended by a newer accepted poll, not by a refused one", async () => {
  await using relay = await startTestRelay();
  const [waiter, sender] = await registerAgents(relay, "waiter", "sender");
  const [first] = await begin(relay, () => waiter.poll("wait=25"));
  await assertWaits(first);
  relay.clock.advance(1999);
  const refused = await waiter.poll("wait=25");
  assertRefused(refused, "rate_limited");
  assert.equal(refused.json.retry_after_ms, 1);
  await assertWaits(first);
  // A bad query does not end it either.
  assertRefused(await waiter.poll("wait=x"), "invalid_json");
  // Nor does HEAD, which waits for nothing.
  assertStatus(await waiter.call("HEAD", "/v1/inbox", { query: "wait=25" }), 200);
  await assertWaits(first);
  relay.clock.advance(1);
  const second = waiter.bearer("GET", "/v1/inbox", { query: "wait=25&since_id=7" });
  const ended = await answeredSoon(first);
  assertStatus(ended, 200);
  assert.deepEqual(ended.json, { messages: [], last_id: 0 });
  await assertWaits(second);
  // A newer poll by tool ends it as well.
  relay.clock.advance(2000);
  const byTool = await callTool(relay.url, "check_inbox", { token: waiter.ownerToken });
  assert.equal(byTool.isError, false, byTool.text);
  assert.deepEqual((await answeredSoon(second)).json, { messages: [], last_id: 7 });
  relay.clock.advance(2000);
  const third = waiter.poll("wait=25");
  await assertWaits(third);
  const id = await sender.sent({ to: "waiter", body: "wake" });
  const woken = await answeredSoon(third);
  assert.deepEqual(woken.json.messages.map((message: { id: number }) => message.id), [id]);
  const [outgoing] = await sender.outbox();
  assert.notEqual(outgoing.delivered_at, null);
  // An answer with messages at hand waits for nothing.
  relay.clock.advance(2000);
  assertStatus(await answeredSoon(waiter.poll("wait=25")), 200);
});

Deno.test("a waiting poll is not woken by what its query leaves out", async () => {
  await using relay = await startTestRelay();
  const [waiter, sender] = await registerAgents(relay, "waiter", "sender");
  const first = await sender.sent({ to: "waiter", body: 1 });
  assert.equal((await waiter.inbox()).length, 1);
  relay.clock.advance(2000);
  const unread = waiter.poll("unread=true&wait=25");
  await assertWaits(unread);
  const second = await sender.sent({ to: "waiter", body: 2 });
  assert.deepEqual((await unread).json.messages.map((m: { id: number }) => m.id), [second]);
  relay.clock.advance(2000);
  // A cursor far ahead: the message that arrives lies behind it.
  const [ahead] = await begin(relay, () => waiter.poll(`since_id=${2 ** 53 - 1}&wait=1`));
  await sender.sent({ to: "waiter", body: 3 });
  const answer = await ahead;
  assert.deepEqual(answer.json, { messages: [], last_id: 2 ** 53 - 1 });
  relay.clock.advance(2000);
  assert.equal((await waiter.poll(`unread=true&since_id=${first}`)).json.messages.length, 1);
});

Deno.test("shutdown answers waiting polls with an empty 200", async () => {
  const relay = await startTestRelay();
  const [waiter] = await registerAgents(relay, "waiter");
  const [waiting] = await begin(relay, () => waiter.poll("wait=25&since_id=3"));
  await assertWaits(waiting);
  await relay.stop();
  assert.deepEqual((await waiting).json, { messages: [], last_id: 3 });
});

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

Deno.test("beyond waitingPolls a poll does not wait, and a client that leaves frees its place", async () => {
  await using relay = await startTestRelay({ limits: { waitingPolls: 1, inboxPollIntervalMs: 0 } });
  const [first, second] = await registerAgents(relay, "first", "second");
  await first.inbox(); // nothing is read of an agent that is known: it waits from when it has come
  const leaving = new AbortController();
  const [waiting] = await begin(
    relay,
    () => first.call("GET", "/v1/inbox", { query: "wait=25", signal: leaving.signal }),
  );
  const beyond = await answeredSoon(second.poll("wait=25&since_id=4"));
  assert.deepEqual(beyond.json, { messages: [], last_id: 4 });
  leaving.abort();
  await assert.rejects(waiting);
  // The relay learns of the closed connection a moment later.
  let since = 0;
  let waited = false;
  for (let tries = 0; tries < 200 && !waited; tries++) {
    const next = second.poll(`wait=25&since_id=${since}`);
    if (await settlesWithin(next, 50)) continue;
    // Who waits hears of a message; who was only slow to answer has read before it came.
    since = await first.sent({ to: "second", body: tries });
    waited = (await next).json.last_id === since;
  }
  assert.ok(waited, "the place of the client that left was given to another");
  // Nothing was stamped for the client that left.
  await second.sent({ to: "first", body: 2 });
  assert.equal((await second.outbox())[0].delivered_at, null);
});
