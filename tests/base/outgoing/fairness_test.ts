import assert from "node:assert/strict";
import { scripted, T0, withStore } from "./queue_bench.ts";

Deno.test("1,200 due rows of a kind that is busy hold up no other kind", () =>
  withStore(async (bench) => {
    const held = Promise.withResolvers<void>();
    const crowd = scripted(async () => {
      await held.promise;
      return { result: "done" };
    });
    const reached = Promise.withResolvers<void>();
    const lone = scripted(() => {
      reached.resolve();
      return Promise.resolve({ result: "done" });
    });
    const outgoing = await bench.outgoing({ ...crowd.handler, kind: "crowd" });
    outgoing.register({ ...lone.handler, kind: "lone" });
    for (let i = 0; i < 1_200; i++) await bench.queue(`row ${i}`, T0 - 1_200 + i, "crowd");
    await bench.queue("alone", T0, "lone");
    const running = outgoing.run();
    await reached.promise;
    assert.equal(lone.attempts.length, 1);
    held.resolve();
    outgoing.stop();
    await running;
  }));

Deno.test("the end of an attempt begins the next one, without a tick", () =>
  withStore(async (bench) => {
    const all = Promise.withResolvers<void>();
    let ended = 0;
    const { handler } = scripted(() => {
      if (++ended === 30) all.resolve();
      return Promise.resolve({ result: "done" });
    });
    const outgoing = await bench.outgoing(handler, { tickMs: 3_600_000 });
    for (let i = 0; i < 30; i++) await bench.queue(`row ${i}`);
    await outgoing.start();
    await all.promise;
  }));
