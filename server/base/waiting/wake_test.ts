import assert from "node:assert/strict";
import { settle, withWaits } from "../../../tests/support/waiting_rig.ts";

for (const watchable of [false, true]) {
  const how = watchable ? "by watching a KV server" : "by looking once a second at a shared file";
  Deno.test(`Wake wakes who waits for a change by another process, ${how}`, async () => {
    await withWaits(async ({ kv, waitSettled, deliver, tick }) => {
      const wait = await waitSettled(13);
      await deliver(13);
      if (!watchable) await tick();
      await settle(kv, wait.isOver);
      assert.equal(wait.outcome(), "changed");
    }, { watchable });
  });

  Deno.test(`Wake reads only mailboxes of changed shards, ${how}`, async () => {
    await withWaits(async ({ kv, waitSettled, deliver, tick, reads }) => {
      const waits = [];
      for (const hole of [1, 2, 11]) waits.push(await waitSettled(hole));
      await tick();
      reads.length = 0;
      await deliver(11);
      if (!watchable) await tick();
      await settle(kv, waits[2]!.isOver);
      assert.deepEqual(reads.toSorted((a, b) => a - b), [1, 11]);
      assert.deepEqual(waits.map(({ outcome }) => outcome()), [null, null, "changed"]);
    }, { watchable });
  });
}

Deno.test("Wake misses nothing that came between a poll's reading and its first look", async () => {
  await withWaits(async ({ kv, wait, deliver, tick }) => {
    const early = wait(5); // has registered and read
    await deliver(5);
    await tick();
    await settle(kv, early.isOver);
    assert.equal(early.outcome(), "changed");
  });
});

Deno.test("Wake runs nothing while nobody waits", async () => {
  await withWaits(async ({ kv, wait, tick, tickers, reads, deliver }) => {
    assert.equal(tickers(), 0);
    const { waiter } = wait(3);
    assert.equal(tickers(), 1);
    waiter.end();
    await tick();
    assert.equal(tickers(), 0);
    reads.length = 0;
    await deliver(3);
    await settle(kv);
    assert.deepEqual(reads, []);
  });
});
