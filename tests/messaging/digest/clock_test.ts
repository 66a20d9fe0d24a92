import assert from "node:assert/strict";
import { parkedKey } from "../../../server/messaging/digest/candidates.ts";
import { startSmtpServer } from "../../support/smtp_server.ts";
import { HOUR_MS, MINUTE_MS, startDigestBench } from "./digest_bench.ts";

const READER = "reader@example.net";

for (const shared of [false, true]) {
  Deno.test(`an agent that a wrong clock parked for longer than the interval is looked at again (shared: ${shared})`, async () => {
    await using smtp = await startSmtpServer();
    await using bench = await startDigestBench({
      smtpPort: smtp.port,
      relay: { config: { sharedStore: shared } },
    });
    const { relay } = bench;
    const bob = await bench.agent("bob", READER);
    relay.clock.advance(1_000);
    await bob.sent({ to: "bob", body: "hello" });
    await bench.sweepAfter(MINUTE_MS);
    assert.equal(smtp.received.length, 1);
    // By a clock nine hours ahead the next digest is six hours later than that.
    relay.clock.leap(9 * HOUR_MS);
    await bench.sweep();
    relay.clock.advance(MINUTE_MS);
    await bob.sent({ to: "bob", body: "again" });
    await bench.sweep();
    assert.equal(smtp.received.length, 2);
    await bob.sent({ to: "bob", body: "and again" });
    await bench.sweep();
    const { kv } = relay.deps;
    const dueMs = async () => {
      const rows = await Array.fromAsync(kv.list({ prefix: ["digest-parked"] }));
      return rows.map(({ key }) => key[1] as number);
    };
    const rightMs = relay.clock.now() - 9 * HOUR_MS;
    assert.deepEqual((await dueMs()).map((ms) => ms > rightMs + 14 * HOUR_MS), [true]);
    relay.clock.leap(-9 * HOUR_MS);
    await bench.sweep();
    assert.deepEqual((await dueMs()).filter((ms) => ms > rightMs + 7 * HOUR_MS), []);
    for (let hour = 0; hour < 7; hour++) await bench.sweepAfter(HOUR_MS);
    assert.ok(smtp.received.length >= 3, "not nine hours late");
    // One that is parked in time is left alone.
    const inTimeMs = relay.clock.now() + 5 * HOUR_MS;
    await kv.set(parkedKey(inTimeMs, 999), { v: 1 });
    await bench.sweep();
    assert.ok((await dueMs()).includes(inTimeMs));
  });
}
