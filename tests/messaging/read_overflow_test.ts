/** An agent that read its inbox here and there, until the record of what it read has no room left. */
import assert from "node:assert/strict";
import {
  MAX_READ_RANGES,
  pollKey,
  type PollRecord,
} from "../../server/messaging/messages/inbox/poll_record.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents, type TestAgent } from "../support/test_agent.ts";

const idsOf = (messages: { id: number }[]) => messages.map(({ id }) => id);

Deno.test("deliveries beyond the ranges of a record are remembered one by one", async () => {
  using kv = await openMemoryKv();
  let agents: readonly [TestAgent, TestAgent];
  const ids: number[] = [];
  {
    await using relay = await startTestRelay({ deps: { kv } });
    agents = await registerAgents(relay, "alice", "bob_1");
    for (let i = 0; i < 7; i++) {
      ids.push(await agents[0].sent({ to: "bob_1", body: i }));
      relay.clock.advance(1000);
    }
  }
  // As many ranges as fit, all between the first message and the second.
  const read = Array.from({ length: MAX_READ_RANGES }, (_, i) => ids[0]! + 2 + 4 * i)
    .flatMap((id) => [id, id]);
  assert.ok(read.at(-1)! < ids[1]!);
  const bobId = (await kv.get<{ id: number }>(["handle", "bob_1"])).value!.id;
  const record: PollRecord = { v: 1, lastPollMs: 0, read, overflow: false };
  await kv.set(pollKey(bobId), record);
  const readRows = async () => {
    const rows: unknown[] = [];
    for await (const { key } of kv.list({ prefix: ["read", bobId] })) rows.push(key[2]);
    return rows;
  };
  {
    await using relay = await startTestRelay({ deps: { kv } });
    const [alice, bob] = [agents[0].at(relay), agents[1].at(relay)];
    relay.clock.advance(10_000);
    const stamps = async () => (await alice.outbox()).map(({ delivered_at }) => delivered_at);
    assert.deepEqual(idsOf(await bob.inbox(`since_id=${ids[2]}&limit=2`)), [ids[3], ids[4]]);
    const first = new Date(relay.clock.now()).toISOString();
    assert.deepEqual(await readRows(), [ids[3], ids[4]]);
    assert.deepEqual(await stamps(), [null, null, null, first, first, null, null]);
    assert.deepEqual(idsOf(await bob.inbox("unread=true&limit=4")), [
      ids[0],
      ids[1],
      ids[2],
      ids[5],
    ]);
    const second = new Date(relay.clock.now()).toISOString();
    assert.deepEqual(idsOf(await bob.inbox("unread=true")), [ids[6]]);
    assert.deepEqual(idsOf(await bob.inbox("unread=true")), []);
    const third = (await stamps()).at(-1);
    assert.deepEqual(idsOf(await bob.inbox()), ids);
    const stamped = [second, second, second, first, first, second, third];
    assert.deepEqual(await stamps(), stamped);
  }
});
