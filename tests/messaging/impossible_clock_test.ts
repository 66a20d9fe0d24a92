/** A clock decades ahead: ids once given by it would have hidden every later message for good. */
import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { openKvFile } from "../support/read_through.ts";
import { makeStoreFolder, startTestRelay, type TestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

const MINUTE_MS = 60_000;

const ceiling = async ({ deps: { kv } }: TestRelay) =>
  (await kv.get<number>(["slot", 0, "ceiling"])).value!;

Deno.test("a send in 2094 is refused for as long as it is 2094, and hides no later message", async () => {
  await using relay = await startTestRelay();
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const first = await alice.sent({ to: "bob_1", body: "before" });
  const before = await ceiling(relay);
  const aheadMs = Date.UTC(2094, 11, 1) - relay.clock.now();
  relay.clock.leap(aheadMs);
  for (const waitedMs of [0, 2 * MINUTE_MS, 60 * MINUTE_MS]) {
    relay.clock.advance(waitedMs);
    const rightSeconds = Math.floor((relay.clock.now() - aheadMs) / 1000);
    for (const timestamp of [undefined, rightSeconds]) {
      const refused = await alice.send({ to: "bob_1", body: "in 2094" }, { timestamp });
      assertRefused(refused, "unavailable", /not between 2025 and 2090/);
      assert.equal(refused.headers.get("retry-after"), "60");
    }
    const page = await bob.call("GET", "/v1/inbox", { timestamp: rightSeconds });
    assertStatus(page, 200);
    assert.equal(page.json.messages[0].id, first, "reads go on");
  }
  const highest = before + 4096 * 63 * MINUTE_MS;
  assert.ok(await ceiling(relay) < highest);
  relay.clock.leap(-aheadMs);
  const later = await alice.sent({ to: "bob_1", body: "after" });
  assert.ok(later > first && later < highest);
  const bodies = (await bob.inbox(`since_id=${first}`)).map(({ body }) => body);
  assert.deepEqual(bodies, ["after"]);
});

Deno.test("a store whose ids a clock in 2094 has used up says so at start and at each send", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  try {
    const kv = await openKvFile(kvPath);
    // What one send in December 2094 left behind.
    await kv.set(["slot", 0, "ceiling"], 9_037_047_480_332_544);
    kv.close();
    await using relay = await startTestRelay({ kvPath });
    assert.match(relay.relay.startupNotes().join("\n"), /ids {8}the ids of messages are used up/);
    const [alice] = await registerAgents(relay, "alice", "bob_1");
    const refused = await alice.send({ to: "bob_1", body: "x" });
    assertRefused(refused, "unavailable", /used up.*restore a backup from before/);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
