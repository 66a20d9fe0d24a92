/** A relay that is closed while the store fails: it writes what it can of what memory holds. */
import assert from "node:assert/strict";
import { pollKey, type PollRecord } from "../../server/messaging/messages/inbox/poll_record.ts";
import { assertStatus } from "../support/answer.ts";
import { createFakeKv, type FakeCommit } from "../support/fake_kv.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgent } from "../support/test_agent.ts";

const recordsSeen = ({ writes }: FakeCommit) => writes.some(({ key }) => key[0] === "seen");

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "an exclusive store";

  Deno.test(`a relay that is closed records who was seen though ${store} fails it once`, async () => {
    using kv = await openMemoryKv();
    let asked = 0;
    const fake = createFakeKv({
      kv,
      maxChecks: 100,
      intercept(commit, run) {
        if (!recordsSeen(commit) || asked++ > 0) return run();
        return Promise.reject(new TypeError("error sending request"));
      },
    });
    const relay = await startTestRelay({ config: { sharedStore }, deps: { kv: fake } });
    await (await registerAgent(relay, "alice")).poll();
    await relay.stop();
    assert.ok(asked >= 2, `${asked}`); // an exclusive store may save it besides
    assert.equal((await Array.fromAsync(kv.list({ prefix: ["seen"] }))).length, 1);
  });
}

Deno.test("a relay that is closed records polls though the store refuses who was seen, and tells of it", async () => {
  using kv = await openMemoryKv();
  const fake = createFakeKv({
    kv,
    maxChecks: 100,
    intercept: (commit, run) =>
      recordsSeen(commit) ? Promise.reject(new TypeError("disk I/O error")) : run(),
  });
  const relay = await startTestRelay({ deps: { kv: fake } });
  const alice = await registerAgent(relay, "alice");
  // Digests alone read when polls were.
  const patch = { body: { notification_email: "alice@example.com" } };
  assertStatus(await alice.call("PATCH", "/v1/agents/me", patch), 200);
  relay.clock.advance(60_000);
  const polledMs = relay.clock.now();
  assertStatus(await alice.poll(), 200);
  const recordedMs = async () => {
    const rows = kv.list<PollRecord>({ prefix: pollKey(0).slice(0, 1) });
    return (await Array.fromAsync(rows)).map(({ value }) => value.lastPollMs);
  };
  assert.deepEqual(await recordedMs(), [], "in memory alone");
  await assert.rejects(relay.stop(), { cause: new TypeError("disk I/O error") });
  assert.deepEqual(await recordedMs(), [polledMs]);
});
