import assert from "node:assert/strict";
import { settlesWithin } from "../../support/pace.ts";
import { type Answer, assertRefused, assertStatus } from "../../support/answer.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { registerAgents, type TestAgent } from "../../support/test_agent.ts";
import { callTool, ToolAgent } from "../../support/tool_client.ts";

const limits = { registrationsPerIpPerHour: 1_000 };

/** Longer than any answer here may take, far below the 25 s of a wait that nothing ends. */
const SOON_MS = 5_000;

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

/** The relay reads nothing of an agent that it knows: its next poll waits from when it has come. */
async function makeKnown(relay: TestRelay, agent: TestAgent): Promise<void> {
  await agent.inbox();
  relay.clock.advance(2_000);
}

Deno.test("GET /v1/inbox?wait wakes for a message within 50 ms (median of 21)", async () => {
  await using relay = await startTestRelay({ limits: { ...limits, inboxPollIntervalMs: 0 } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const latenciesMs: number[] = [];
  /** What a request takes on this machine as busy as it is. */
  const requestsMs: number[] = [];
  let since = 0;
  for (let round = 0; round < 21; round++) {
    let answeredMs = 0;
    const reached = relay.nextRequests();
    const poll = bob.poll(`wait=25&since_id=${since}`).then((answer) => {
      answeredMs = performance.now();
      return answer;
    });
    await reached;
    const askedMs = performance.now();
    assertStatus(await alice.call("GET", "/v1/whoami"), 200);
    requestsMs.push(performance.now() - askedMs);
    const id = await alice.sent({ to: "bob_1", body: round });
    const sentMs = performance.now();
    const answer = await poll;
    assertStatus(answer, 200);
    assert.deepEqual(answer.json.messages.map((m: { id: number }) => m.id), [id]);
    assert.equal(answer.json.last_id, since = id);
    latenciesMs.push(answeredMs - sentMs);
  }
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[10]!;
  const latencyMs = median(latenciesMs);
  const requestMs = median(requestsMs);
  assert.ok(latencyMs < 50 + 3 * requestMs, `${latencyMs} ms, a request took ${requestMs} ms`);
});

Deno.test("GET /v1/inbox?wait stamps what it delivers and answers at once when messages are there", async () => {
  await using relay = await startTestRelay({ limits });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await alice.sent({ to: "bob_1", body: "early" });
  const beganMs = performance.now();
  assert.equal((await bob.inbox("wait=25"))[0].body, "early");
  assert.ok(performance.now() - beganMs < SOON_MS);
  assert.notEqual((await alice.outbox())[0].delivered_at, null);
});

Deno.test("GET /v1/inbox?wait ends after S seconds with an empty 200", async () => {
  await using relay = await startTestRelay({ limits });
  const [bob] = await registerAgents(relay, "bob_1");
  const beganMs = performance.now();
  const answer = await bob.poll("wait=1&since_id=7");
  const tookMs = performance.now() - beganMs;
  assertStatus(answer, 200);
  assert.deepEqual(answer.json, { messages: [], last_id: 7 });
  assert.ok(tookMs > 900 && tookMs < SOON_MS, `took ${tookMs} ms`);
});

Deno.test("shutdown answers every waiting poll with an empty 200", async () => {
  const relay = await startTestRelay({ limits });
  const handles = Array.from({ length: 20 }, (_, i) => `agent_${i}`);
  const agents = await registerAgents(relay, ...handles);
  const reached = relay.nextRequests(agents.length);
  const polls = agents.map((agent) => agent.poll("wait=25&since_id=3"));
  await reached;
  const beganMs = performance.now();
  await relay.stop();
  for (const answer of await Promise.all(polls)) {
    assertStatus(answer, 200);
    assert.deepEqual(answer.json, { messages: [], last_id: 3 });
  }
  assert.ok(performance.now() - beganMs < SOON_MS);
});

Deno.test("a disconnected client frees its place; above waitingPolls a poll does not wait", async () => {
  await using relay = await startTestRelay({ limits: { ...limits, waitingPolls: 1 } });
  const [alice, bob, carol] = await registerAgents(relay, "alice", "bob_1", "carol");
  await makeKnown(relay, bob);
  const leaving = new AbortController();
  const reached = relay.nextRequests();
  const left = bob.call("GET", "/v1/inbox", { query: "wait=25", signal: leaving.signal });
  await reached;
  const beganMs = performance.now();
  const beyond = await carol.poll("wait=25&since_id=4");
  assert.deepEqual(beyond.json, { messages: [], last_id: 4 }, "no place to wait");
  assert.ok(performance.now() - beganMs < SOON_MS);
  leaving.abort();
  await assert.rejects(left);
  // The relay learns of the closed connection a moment later.
  let since = 0;
  let waited = false;
  for (let tries = 0; tries < 200 && !waited; tries++) {
    relay.clock.advance(2_000);
    const poll = carol.poll(`wait=25&since_id=${since}`);
    if (await settlesWithin(poll, 50)) continue;
    // A waiting poll gets the message; one that was only slow to answer had read before it came.
    since = await alice.sent({ to: "carol", body: "you have a place" });
    waited = (await poll).json.messages.length === 1;
  }
  assert.ok(waited, "the place of the client that left was given to another");
  await alice.sent({ to: "bob_1", body: "not lost" });
  assert.equal((await alice.outbox()).at(-1).delivered_at, null, "stamped for nobody");
  assert.equal((await bob.inbox("unread=true"))[0].body, "not lost");
});

Deno.test("HEAD /v1/inbox?wait waits for nothing and counts as no poll", async () => {
  await using relay = await startTestRelay({ limits });
  const [bob] = await registerAgents(relay, "bob_1");
  const beganMs = performance.now();
  assertStatus(await bob.call("HEAD", "/v1/inbox", { query: "wait=25" }), 200);
  assert.ok(performance.now() - beganMs < SOON_MS);
  assertStatus(await bob.poll(), 200);
});

Deno.test("a token that dies while its poll waits is given no message", async () => {
  await using relay = await startTestRelay({ limits });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const tooly = await ToolAgent.register(relay.url, "tooly");
  const reached = relay.nextRequests(2);
  const polls = [
    bob.bearer("GET", "/v1/inbox", { query: "wait=25" }),
    tooly.rest("GET", "/v1/inbox?wait=25"),
  ];
  await reached;
  assertStatus(await bob.call("POST", "/v1/owner-token"), 201);
  assertStatus(await tooly.rest("POST", "/v1/keys/export"), 200);
  await alice.sent({ to: "bob_1", body: "not for the dead token" });
  await alice.sent({ to: "tooly", body: "nor for the exported one" });
  for (const answer of await Promise.all(polls)) assertRefused(answer, "unknown_token");
  const outbox = await alice.outbox();
  assert.equal(outbox.length, 2);
  for (const sent of outbox) assert.equal(sent.delivered_at, null);
  assert.equal((await bob.inbox("unread=true")).length, 1);
});

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
