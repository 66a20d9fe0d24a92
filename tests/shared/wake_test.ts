import assert from "node:assert/strict";
import { assertStatus } from "../support/answer.ts";
import { delay } from "../support/pace.ts";
import { startRelayProcesses } from "../support/relay_processes.ts";
import { registerAgent } from "../support/test_agent.ts";

const WOKEN_WITHIN_MS = 1_500;
/** Three rounds; more where a busy machine has broken the promise in all of them. */
const ROUNDS = [3, 10] as const;

Deno.test("a poll that waits at one process is woken within 1.5 s by a send at another", async () => {
  await using processes = await startRelayProcesses(2, {
    limits: { registrationsPerIpPerHour: 100, inboxPollIntervalMs: 0 },
  });
  const [a, b] = [processes.targets[0]!, processes.targets[1]!];
  const alice = await registerAgent(b, "alice");
  const waiting = await Promise.all(
    Array.from({ length: 12 }, (_, i) => registerAgent(a, `waiting_${i}`)),
  );
  const slowestMs: number[] = [];
  const isKept = () => Math.min(...slowestMs) <= WOKEN_WITHIN_MS;
  for (let round = 0; round < ROUNDS[0] || (round < ROUNDS[1] && !isKept()); round++) {
    let answered = 0;
    const polls = waiting.map(async (agent) => {
      const answer = await agent.poll(`wait=25&since_id=0&unread=true`);
      answered++;
      return { answer, atMs: performance.now() };
    });
    await delay(300 + (round % 3) * 250); // at different phases of the other's second
    assert.equal(answered, 0);
    const ids = await Promise.all(
      waiting.map(({ handle }) => alice.sent({ to: handle, body: { round } })),
    );
    const sentMs = performance.now();
    let slowest = 0;
    for (const [i, { answer, atMs }] of (await Promise.all(polls)).entries()) {
      assertStatus(answer, 200);
      assert.deepEqual(answer.json.messages.map(({ id }: { id: number }) => id), [ids[i]]);
      slowest = Math.max(slowest, atMs - sentMs);
    }
    slowestMs.push(slowest);
  }
  // A lost wake-up costs more: up to the ten-second round.
  assert.ok(isKept(), `woken after ${slowestMs} ms`);
});

Deno.test("a newer poll at another process ends the waiting one within the ten-second round", async () => {
  await using processes = await startRelayProcesses(2, { limits: { inboxPollIntervalMs: 0 } });
  const [a, b] = [processes.targets[0]!, processes.targets[1]!];
  const alice = await registerAgent(a, "alice");
  const waiting = alice.poll("wait=25");
  await processes.polled("alice");
  const beganMs = performance.now();
  assertStatus(await alice.at(b).poll(), 200);
  const answer = await waiting;
  assertStatus(answer, 200);
  assert.deepEqual(answer.json.messages, []);
  assert.ok(performance.now() - beganMs < 20_000, "by the round, not by the end of its wait");
});
