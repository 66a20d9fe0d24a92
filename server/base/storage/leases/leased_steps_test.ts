import { openMemoryKv } from "../../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createTestClock } from "../../../../tests/support/clock.ts";
import { openTestStorage } from "../../../../tests/support/storage.ts";
import { LeasedSteps } from "./leased_steps.ts";
import { Leases } from "./leases.ts";

const HOUR_MS = 3_600_000;

for (
  const [what, move] of [
    ["time passes", (clock) => clock.advance(11_000)],
    ["the wall leaps back", (clock) => clock.leap(-HOUR_MS)],
    ["the machine sleeps", (clock) => clock.leap(20_000)],
  ] as [string, (clock: ReturnType<typeof createTestClock>) => void][]
) {
  Deno.test(`LeasedSteps renews its lease when ${what}: no other works meanwhile`, async () => {
    using kv = await openMemoryKv();
    const clock = createTestClock();
    const storage = await openTestStorage(kv, { exclusive: false, clock });
    const { store } = storage;
    let left = 3;
    const others: boolean[] = [];
    const steps = new LeasedSteps<string>({
      leases: new Leases(store),
      name: "work",
      pending: () => Promise.resolve(left > 0 ? ["all"] : []),
      async step() {
        // After the first one it has been renewed since the clock moved.
        if (left < 3) others.push(await new Leases(store).take("work", 30_000) !== null);
        move(clock);
        return --left > 0;
      },
    });
    await steps.run();
    assert.deepEqual(others, [false, false]);
    await storage.close();
  });
}

Deno.test("LeasedSteps.run() goes on with the other pieces where one fails, and throws why", async () => {
  using kv = await openMemoryKv();
  const storage = await openTestStorage(kv, { exclusive: false });
  let isStoreDown = false;
  let asked = 0;
  const left = new Map([["broken", 1], ["one", 2], ["other", 1]]);
  const steps = new LeasedSteps<string>({
    leases: new Leases(storage.store),
    name: "work",
    pending: () => Promise.resolve([...left.keys()]),
    step(id) {
      asked++;
      if (isStoreDown || id === "broken") return Promise.reject(new Error("this piece alone"));
      const more = left.get(id)! - 1;
      if (more > 0) left.set(id, more);
      else left.delete(id);
      return Promise.resolve(more > 0);
    },
  });
  for (let minute = 0; minute < 2; minute++) {
    await assert.rejects(steps.run(), { message: "this piece alone" });
    assert.deepEqual([...left.keys()], ["broken"]);
    left.set("later", 1);
  }
  for (let i = 0; i < 100; i++) left.set(`unstored ${i}`, 1);
  isStoreDown = true;
  asked = 0;
  await assert.rejects(steps.run(), { message: "this piece alone" });
  assert.equal(asked, 10, "whatever fails so often is the store");
  await storage.close();
});
