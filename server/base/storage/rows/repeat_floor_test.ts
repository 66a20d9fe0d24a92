import assert from "node:assert/strict";
import { storeOn } from "../../../../tests/support/store_on.ts";
import { RepeatFloor } from "./repeat_floor.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const NOW = NOW_MS / 1000;

async function withFloors(
  test: (kv: Deno.Kv, one: RepeatFloor, two: RepeatFloor) => Promise<void>,
): Promise<void> {
  using kv = await Deno.openKv(":memory:");
  await test(kv, new RepeatFloor(storeOn(kv)), new RepeatFloor(storeOn(kv)));
}

Deno.test("RepeatFloor.raise() never lowers it, whoever raised it before", async () => {
  await withFloors(async (_, one, two) => {
    assert.equal(one.second, -Infinity);
    await one.raise(100);
    await two.raise(50);
    assert.equal(two.second, 100);
    await two.raise(150);
    assert.equal(one.second, 100, "not learnt yet");
    await one.learn();
    assert.equal(one.second, 150);
    assert.equal(one.version, two.version);
  });
});

Deno.test("RepeatFloor.learn() keeps what is newer than the answer of a slow read", async () => {
  await withFloors(async (kv, one) => {
    await one.raise(100);
    const old = await kv.get(["sig-floor"]);
    const slow = Promise.withResolvers<typeof old>();
    let isSlow = true;
    const floor = new RepeatFloor(
      storeOn(
        new Proxy(kv, {
          get: (target, name) =>
            name === "get" && isSlow ? () => slow.promise : Reflect.get(target, name).bind(target),
        }),
      ),
    );
    const learnt = floor.learn();
    isSlow = false;
    await floor.raise(200);
    slow.resolve(old);
    await learnt;
    assert.equal(floor.second, 200);
  });
});

Deno.test("RepeatFloor.acknowledged is what the oldest commit under way was planned upon", async () => {
  await withFloors(async (_, floor) => {
    const before = floor.version;
    const ended = [floor.enter(), floor.enter()];
    await floor.raise(100);
    const raised = floor.version;
    assert.notEqual(raised, before);
    ended[0]!();
    assert.equal(floor.acknowledged, before);
    const endLater = floor.enter();
    ended[1]!();
    assert.equal(floor.acknowledged, raised);
    await floor.raise(200);
    assert.equal(floor.acknowledged, raised);
    endLater();
    assert.equal(floor.acknowledged, floor.version);
  });
});

Deno.test("RepeatFloor.open() lowers a floor ahead of the clock to it where RELAY_CLOCK_CHECK is off", async () => {
  await withFloors(async (_, one, two) => {
    await one.raise(NOW - 1);
    assert.equal(await one.open(NOW_MS, true), null);
    assert.equal(await one.open(NOW_MS, false), null);
    assert.equal(one.second, NOW - 1);
    await one.raise(NOW + 3_600);
    assert.match((await one.open(NOW_MS, true))!, /up to 2026-01-01T01:00:00Z is refused until/);
    assert.equal(one.second, NOW + 3_600);
    assert.match((await one.open(NOW_MS, false))!, /up to 2026-01-01T01:00:00Z are taken/);
    assert.equal(one.second, NOW);
    assert.equal(await two.open(NOW_MS, true), null);
    assert.equal(two.second, NOW);
  });
});
