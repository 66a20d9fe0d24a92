import assert from "node:assert/strict";
import { settlesWithin } from "../../../../tests/support/pace.ts";
import { ReadPace } from "./read_pace.ts";

function startPace() {
  const ticks = new Set<() => void>();
  const pace = new ReadPace(100_000, (tick, everyMs) => {
    assert.equal(everyMs, 10);
    ticks.add(tick);
    return () => ticks.delete(tick);
  });
  return { pace, ticks, tick: () => ticks.forEach((tick) => tick()) };
}

Deno.test("ReadPace gives what a tick has, in the order of who asked, and looks at no clock when idle", async () => {
  const { pace, ticks, tick } = startPace();
  assert.equal(ticks.size, 0);
  await pace.take(2_500); // 1,000 a tick: the next come after the third
  const order: number[] = [];
  const all = [400, 700, 10].map((bytes, i) => pace.take(bytes).then(() => order.push(i)));
  tick();
  assert.equal(await settlesWithin(Promise.race(all), 5), false);
  tick();
  await all[1];
  assert.equal(await settlesWithin(all[2]!, 5), false);
  tick();
  await all[2];
  assert.deepEqual(order, [0, 1, 2]);
  for (let i = 0; i < 3; i++) tick();
  assert.equal(ticks.size, 0);
});

Deno.test("ReadPace lets all go on when it is closed", async () => {
  const { pace, ticks } = startPace();
  await pace.take(5_000);
  const waiting = pace.take(1);
  pace.close();
  await waiting;
  assert.equal(ticks.size, 0);
});
