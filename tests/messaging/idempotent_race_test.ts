/** A repetition that overtakes or is overtaken by the first request between two of its steps. */
import assert from "node:assert/strict";
import { assertStatus } from "../support/answer.ts";
import { delayReads } from "../support/delay_reads.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";

for (const shared of [false, true]) {
  const store = shared ? "a shared store" : "an exclusive store";

  Deno.test(`a repetition still looking for its recipient is no new message, on ${store}`, async () => {
    using kv = await openMemoryKv();
    const reads = delayReads(kv);
    {
      const config = { sharedStore: shared };
      const former = await startTestRelay({ config, deps: { kv } });
      const registered = await registerAgents(former, "alice", "bob_1");
      await former.stop(); // whose memory has the handles
      await using relay = await startTestRelay({ config, deps: { kv: reads.kv } });
      const [alice, bob] = registered.map((agent) => agent.at(relay));
      // Memory alone knows by now which signatures this relay accepted.
      relay.clock.advance(700_000);
      const timestamp = relay.clock.seconds();
      const request = { to: "bob_1", body: "once" };
      reads.hold(([name]) => name === "handle");
      const both = [1, 2].map(() => alice!.send(request, { timestamp }));
      await reads.reached(2);
      reads.releaseOne();
      const first = await Promise.race(both);
      reads.release();
      const answers = await Promise.all(both);
      for (const answer of answers) assertStatus(answer, 201);
      assert.equal(answers[0]!.text, answers[1]!.text);
      assert.equal(first.headers.get("idempotent-replayed"), null);
      assert.equal((await bob!.inbox()).length, 1);
      assert.equal((await alice!.outbox()).length, 1);
    }
  });
}
