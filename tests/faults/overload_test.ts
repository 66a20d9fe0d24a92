import assert from "node:assert/strict";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { createFakeKv } from "../support/fake_kv.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents, toBytes } from "../support/test_agent.ts";

const BOUNDS = {
  jobs: 10,
  bytes: 1_000_000,
  refuseAfterMs: 60_000,
  retryForMs: 60_000,
  giveUpAfterMs: 60_000,
  checkEveryMs: 60_000,
};

Deno.test("overload is answered 503 with Retry-After, and what is repeated is stored once", async () => {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  const kv = await openMemoryKv();
  const fake = createFakeKv({
    kv,
    maxChecks: 100,
    async intercept(commit, run) {
      if (isHeld && commit.writes.some(({ key }) => key[0] === "sig")) await held.promise;
      return await run();
    },
  });
  const relay = await startTestRelay({ deps: { kv: fake }, relay: { queueBounds: BOUNDS } });
  try {
    const [alice, bob] = await registerAgents(relay, "alice", "bob");
    isHeld = true;
    const bodies = Array.from({ length: 30 }, (_, i) => toBytes({ to: "bob", body: `load ${i}` }));
    const send = (body: Uint8Array<ArrayBuffer>) => alice.call("POST", "/v1/messages", { body });
    const first = bodies.map(send);
    const refused = await Promise.any(
      first.map(async (sent) => {
        const answer = await sent;
        assert.equal(answer.status, 503);
        return answer;
      }),
    );
    assertRefused(refused, "unavailable", /nothing was stored/);
    assert.equal(refused.headers.get("retry-after"), "1");
    isHeld = false;
    held.resolve();
    for (const answer of await Promise.all(first)) {
      assert.ok(answer.status === 201 || answer.status === 503, answer.text);
    }
    for (const body of bodies) assertStatus(await send(body), 201);
    assert.equal((await bob.inbox("limit=200")).length, bodies.length);
  } finally {
    await relay.stop();
    kv.close();
  }
});
