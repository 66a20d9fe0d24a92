import assert from "node:assert/strict";
import { delay } from "../support/pace.ts";
import { assertStatus } from "../support/answer.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

const limits = { registrationsPerIpPerHour: 1_000 };

/** Longer than any answer here may take, far below the 25 s of a wait that nothing ends. */
const SOON_MS = 5_000;

Deno.test("GET /v1/inbox?wait wakes for a message within 50 ms (median of 21)", async () => {
  await using relay = await startTestRelay({ limits: { ...limits, inboxPollIntervalMs: 0 } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const latenciesMs: number[] = [];
  let since = 0;
  for (let round = 0; round < 21; round++) {
    let answeredMs = 0;
    const poll = bob.poll(`wait=25&since_id=${since}`).then((answer) => {
      answeredMs = performance.now();
      return answer;
    });
    await delay(20);
    const id = await alice.sent({ to: "bob_1", body: round });
    const sentMs = performance.now();
    const answer = await poll;
    assertStatus(answer, 200);
    assert.deepEqual(answer.json.messages.map((m: { id: number }) => m.id), [id]);
    assert.equal(answer.json.last_id, since = id);
    latenciesMs.push(answeredMs - sentMs);
  }
  const median = latenciesMs.toSorted((a, b) => a - b)[10]!;
  assert.ok(median < 50, `median ${median} ms`);
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
  const older = bob.poll("wait=25");
  await delay(50);
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
  const polls = agents.map((agent) => agent.poll("wait=25"));
  await delay(100);
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
  const leaving = new AbortController();
  const left = bob.call("GET", "/v1/inbox", { query: "wait=25", signal: leaving.signal });
  await delay(100);
  const beganMs = performance.now();
  assert.deepEqual((await carol.poll("wait=25")).json.messages, [], "no place to wait");
  assert.ok(performance.now() - beganMs < SOON_MS);
  leaving.abort();
  await assert.rejects(left);
  let waited = false;
  for (let attempt = 0; attempt < 20 && !waited; attempt++) {
    relay.clock.advance(2_000);
    await delay(50);
    const poll = carol.poll("wait=25");
    waited = await Promise.race([poll.then(() => false), delay(300).then(() => true)]);
    if (waited) {
      await alice.sent({ to: "carol", body: "you have a place" });
      assert.equal((await poll).json.messages.length, 1);
    }
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
