import assert from "node:assert/strict";
import { settlesWithin } from "../support/pace.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgents, type TestAgent } from "../support/test_agent.ts";
import { ToolAgent } from "../support/tool_client.ts";

const limits = { registrationsPerIpPerHour: 1_000 };

/** Longer than any answer here may take, far below the 25 s of a wait that nothing ends. */
const SOON_MS = 5_000;

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

Deno.test("a newer accepted poll ends the older waiting one with an empty 200", async () => {
  await using relay = await startTestRelay({ limits });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  await makeKnown(relay, bob);
  const reached = relay.nextRequests();
  const older = bob.poll("wait=25");
  await reached;
  assert.equal((await bob.poll("wait=25")).status, 429, "the floor counts waiting polls");
  relay.clock.advance(2_000);
  const newer = bob.poll("wait=25");
  const ended = await older;
  assertStatus(ended, 200);
  assert.deepEqual(ended.json, { messages: [], last_id: 0 });
  await alice.sent({ to: "bob_1", body: "for the newer one" });
  assert.equal((await newer).json.messages.length, 1);
});

Deno.test("shutdown answers every waiting poll with an empty 200", async () => {
  const relay = await startTestRelay({ limits });
  const handles = Array.from({ length: 20 }, (_, i) => `agent_${i}`);
  const agents = await registerAgents(relay, ...handles);
  const reached = relay.nextRequests(agents.length);
  const polls = agents.map((agent) => agent.poll("wait=25"));
  await reached;
  const beganMs = performance.now();
  await relay.stop();
  for (const answer of await Promise.all(polls)) {
    assertStatus(answer, 200);
    assert.deepEqual(answer.json, { messages: [], last_id: 0 });
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
  assert.deepEqual((await carol.poll("wait=25")).json.messages, [], "no place to wait");
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
    // Who waits hears of a message; who was only slow to answer has read before it came.
    since = await alice.sent({ to: "carol", body: "you have a place" });
    waited = (await poll).json.messages.length === 1;
  }
  assert.ok(waited, "the place of the client that left was given to another");
  await alice.sent({ to: "bob_1", body: "not lost" });
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
