import assert from "node:assert/strict";
import type {
  AttemptOutcome,
  OutgoingHandler,
} from "../../../server/base/outgoing/outgoing_handler.ts";
import { scripted, T0, withStore } from "./queue_bench.ts";

const UNREACHABLE: AttemptOutcome<string> = {
  result: "retry",
  reason: "ECONNREFUSED",
  afterMs: 60_000,
  unreachable: true,
};

Deno.test("a destination with many due rows leaves the others their turns", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted({ result: "done" });
    for (let i = 0; i < 400; i++) await bench.queue(`crowd ${i}`, T0 - 400 + i, "test", "crowd");
    for (const other of ["one", "other"]) {
      for (let i = 0; i < 3; i++) await bench.queue(`${other} ${i}`, T0, "test", other);
    }
    await (await bench.outgoing(handler)).run();
    assert.equal(attempts.length, 406);
    const places = attempts.map(({ id }, at) => ({ id, at }))
      .filter(({ id }) => !id.startsWith("crowd")).map(({ at }) => at);
    assert.ok(Math.max(...places) < 60, `attempted at ${places}`);
  }));

Deno.test("an org that hangs leaves attempts to the others, and has its turn in the end", () =>
  withStore(async (bench) => {
    const held = Promise.withResolvers<void>();
    const others = Promise.withResolvers<void>();
    let slow = 0;
    let quick = 0;
    const { handler } = scripted(async ({ id }) => {
      if (id.startsWith("slow")) {
        slow++;
        await held.promise;
      } else if (++quick === 20) others.resolve();
      return { result: "done" };
    });
    for (let i = 0; i < 20; i++) {
      await bench.queue(`slow ${i}`, T0 - 20 + i, "test", "slow");
      await bench.queue(`quick ${i}`, T0, "test", "quick");
    }
    const partiesOf = (org: string) => ({ org });
    const outgoing = await bench.outgoing({ ...handler, partiesOf });
    const running = outgoing.run();
    await others.promise;
    assert.equal(slow, 1);
    held.resolve();
    await running;
    assert.equal(slow, 20);
  }));

for (const processes of [1, 2]) {
  Deno.test(`orgs that hang leave attempts to another one, in ${processes} process(es)`, () =>
    withStore(async (bench) => {
      const held = Promise.withResolvers<void>();
      const done = Promise.withResolvers<void>();
      const hanging: string[] = [];
      const ended = new Set<string>();
      const { handler } = scripted(async ({ id }) => {
        if (id.startsWith("hangs")) {
          hanging.push(id);
          await held.promise;
        } else if (ended.add(id).size === 10) done.resolve();
        return { result: "done" };
      });
      for (let i = 0; i < 40; i++) {
        await bench.queue(`hangs ${i}`, T0 - 40 + i, "test", `org ${i % 4}/domain ${i % 4}`);
      }
      const partiesOf = (destination: string) => {
        const [org, domain] = destination.split("/");
        return { org: org!, domain: domain! };
      };
      const fair = { ...handler, concurrency: 6, partiesOf };
      const queues = [];
      for (let i = 0; i < processes; i++) {
        queues.push(await bench.outgoing(fair, { exclusive: processes === 1 }));
      }
      const running = queues.map((outgoing) => outgoing.run());
      for (let i = 0; i < 10; i++) await bench.queue(`quick ${i}`, T0, "test", "innocent/x");
      // The search of the first run may have passed by then.
      await bench.announce({ id: "quick 0", kind: "test", destination: "innocent/x", dueMs: T0 });
      for (const outgoing of queues) running.push(outgoing.run());
      await done.promise;
      assert.ok(hanging.length >= 4 && hanging.length <= 4 * processes, `${hanging.length} hang`);
      held.resolve();
      await Promise.all(running);
      assert.equal(new Set(hanging).size, 40);
      assert.equal(hanging.length, 40, "none twice");
    }));
}

Deno.test("an org with mail for many domains has them read some at a time, and all delivered", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted({ result: "done" });
    for (let i = 0; i < 200; i++) await bench.queue(`crowd ${i}`, T0 - 10, "test", `crowd/${i}`);
    for (let i = 0; i < 3; i++) await bench.queue(`other ${i}`, T0, "test", `other/${i}`);
    const partiesOf = (destination: string) => {
      const [org, domain] = destination.split("/");
      return { org: org!, domain: domain! };
    };
    await (await bench.outgoing({ ...handler, concurrency: 6, partiesOf })).run();
    assert.equal(new Set(attempts.map(({ id }) => id)).size, 203);
    assert.equal(attempts.length, 203);
    const last = attempts.findLastIndex(({ id }) => id.startsWith("other"));
    assert.ok(last < 60, `the other org waits for ${last} mails`);
  }));

Deno.test("after five connection failures a destination gets one trial each 30 s, charged to nobody", () =>
  withStore(async (bench) => {
    let reachable = false;
    const tried: string[] = [];
    const { handler } = scripted(({ id }) => {
      tried.push(id);
      return Promise.resolve(reachable || id === "elsewhere" ? { result: "done" } : UNREACHABLE);
    });
    const one: OutgoingHandler<string> = { ...handler, concurrency: 1 };
    const ids = Array.from({ length: 20 }, (_, i) => `row ${i}`);
    for (const id of ids) await bench.queue(id, T0, "test", "down");
    await bench.queue("elsewhere", T0, "test", "up");
    const outgoing = await bench.outgoing(one);
    await outgoing.run();
    assert.equal(tried.filter((id) => id !== "elsewhere").length, 5);
    assert.ok(tried.includes("elsewhere"));
    const charged = async () => {
      const rows = await Promise.all(ids.map((id) => bench.row(id)));
      return rows.reduce((sum, row) => sum + row!.attempts, 0);
    };
    assert.equal(await charged(), 5);

    for (const trial of [1, 2, 3]) {
      tried.length = 0;
      bench.clock.nowMs += 29_999;
      await outgoing.run();
      assert.equal(tried.length, 0, `before trial ${trial}`);
      bench.clock.nowMs += 1;
      await outgoing.run();
      assert.equal(tried.length, 1, `trial ${trial}`);
      assert.equal(await charged(), 5);
    }

    reachable = true;
    tried.length = 0;
    bench.clock.nowMs += 30_000;
    await outgoing.run();
    bench.clock.nowMs += 60_000;
    await outgoing.run();
    assert.equal(new Set(tried).size, 20);
    assert.equal(tried.length, 20);
  }));
