/** What polls that deliver nothing cost the store. */
import assert from "node:assert/strict";
import { pollKey } from "../../server/messaging/messages/inbox/poll_record.ts";
import { QUEUE_BOUNDS } from "../../server/base/storage/commits/job_queue.ts";
import { assertStatus } from "../support/answer.ts";
import { openKvFile } from "../support/read_through.ts";
import { makeStoreFolder, startTestRelay } from "../support/relay.ts";
import { registerAgent } from "../support/test_agent.ts";

Deno.test("waiting polls at once on a shared store are charged what they write", async () => {
  const count = 30;
  await using relay = await startTestRelay({
    config: { sharedStore: true },
    limits: { registrationsPerIpPerHour: 1000 },
    // Room for a few times what the polls write, not for the largest record that one may have.
    relay: { queueBounds: { ...QUEUE_BOUNDS, bytes: 20_000 } },
  });
  const agents = [];
  for (let i = 0; i < count; i++) agents.push(await registerAgent(relay, `agent_${i}`));
  const arrived = relay.nextRequests(count);
  const polls = agents.map((agent) => agent.poll("wait=1"));
  await arrived;
  assert.equal(polls.length, count);
  for (const poll of polls) assertStatus(await poll, 200);
  // Once more, on records that are known; the clock moves past the poll floor.
  relay.clock.advance(2_000);
  for (const poll of agents.map((agent) => agent.poll())) assertStatus(await poll, 200);
});

Deno.test("the last polls of agents with an address outlive the process, others are not written", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  try {
    {
      await using relay = await startTestRelay({ kvPath });
      const told = await registerAgent(relay, "told");
      const untold = await registerAgent(relay, "untold");
      const patch = { body: { notification_email: "told@example.com" } };
      assertStatus(await told.call("PATCH", "/v1/agents/me", patch), 200);
      for (const agent of [told, untold]) assertStatus(await agent.poll(), 200);
    }
    using kv = await openKvFile(kvPath);
    const recorded = await Promise.all([1, 2].map((id) => kv.get<unknown>(pollKey(id))));
    assert.deepEqual(recorded.map(({ value }) => value !== null), [true, false]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
