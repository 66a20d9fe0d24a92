import assert from "node:assert/strict";
import { EMBEDDED_CAPACITY, type Store } from "../storage/store.ts";
import { listDead } from "./dead_rows.ts";
import { Outbox } from "./outbox.ts";
import {
  type AttemptOutcome,
  type Ending,
  LeaseLost,
  type OutgoingHandler,
  type OutgoingItem,
} from "./outgoing_handler.ts";
import {
  deadKey,
  type DueRow,
  outgoingKey,
  type OutgoingRow,
  stageOutgoing,
} from "./outgoing_row.ts";

const T0 = Date.UTC(2026, 5, 1);
const MINUTE_MS = 60_000;

interface Bench {
  /** Settles after the test: what a dead process never sees. */
  ended: Promise<AttemptOutcome<string>>;
  kv: Deno.Kv;
  clock: { nowMs: number };
  logged: string[];
  outbox(
    handler: OutgoingHandler<string>,
    options?: { exclusive?: boolean; tickMs?: number },
  ): Outbox;
  queue(id: string, dueMs?: number, kind?: string): Promise<void>;
  row(id: string): Promise<OutgoingRow | null>;
  index(): Promise<[dueMs: number, id: string, leased: boolean][]>;
}

async function withStore(
  test: (bench: Bench) => Promise<void>,
  wrap: (kv: Deno.Kv) => Deno.Kv = (kv) => kv,
): Promise<void> {
  const plain = await Deno.openKv(":memory:");
  const kv = wrap(plain);
  const clock = { nowMs: T0 };
  const logged: string[] = [];
  const outboxes: Outbox[] = [];
  const ended = Promise.withResolvers<AttemptOutcome<string>>();
  try {
    await test({
      ended: ended.promise,
      kv,
      clock,
      logged,
      outbox(handler, { exclusive = true, tickMs } = {}) {
        const store: Store = {
          kv,
          exclusive,
          capacity: EMBEDDED_CAPACITY,
          now: () => clock.nowMs,
          random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
        };
        const outbox = new Outbox({
          store,
          tickMs,
          log: (event, fields = {}) => void logged.push(`${event} ${JSON.stringify(fields)}`),
        });
        outbox.register(handler);
        outboxes.push(outbox);
        return outbox;
      },
      async queue(id, dueMs = clock.nowMs, kind = "test") {
        const operation = plain.atomic();
        stageOutgoing({
          nowMs: clock.nowMs,
          requireAbsent: (key) => void operation.check({ key, versionstamp: null }),
          set: (key, value) => void operation.set(key, value),
        }, { id, kind, payload: `payload of ${id}`, dueMs });
        assert.equal((await operation.commit()).ok, true);
      },
      row: async (id) => (await plain.get<OutgoingRow>(outgoingKey(id))).value,
      async index() {
        const rows: [number, string, boolean][] = [];
        for await (const { key, value } of plain.list<DueRow>({ prefix: ["outgoing-due"] })) {
          rows.push([key[1] as number, key[2] as string, value.leased]);
        }
        return rows;
      },
    });
  } finally {
    ended.resolve({ result: "retry", reason: "the test is over", afterMs: 1 });
    for (const outbox of outboxes) await outbox.close();
    plain.close();
  }
}

/** A handler that answers from a script and remembers what it was asked. */
function scripted(
  ...outcomes:
    (AttemptOutcome<string> | ((item: OutgoingItem<string>) => Promise<AttemptOutcome<string>>))[]
) {
  const attempts: { id: string; payload: string; attempts: number }[] = [];
  const endings: Ending[] = [];
  const handler: OutgoingHandler<string> = {
    kind: "test",
    concurrency: 4,
    async attempt(item) {
      attempts.push({ id: item.id, payload: item.payload, attempts: item.attempts });
      const outcome = outcomes[Math.min(attempts.length, outcomes.length) - 1]!;
      return typeof outcome === "function" ? await outcome(item) : outcome;
    },
    finish(ending, payload, operation) {
      endings.push(ending);
      operation.set(["finished", payload], ending);
    },
  };
  return { handler, attempts, endings };
}

/** Leaves a row as a process that was killed leaves it: leased, in this phase. */
async function leaseAndDie(bench: Bench, phase: "ready" | "data"): Promise<void> {
  const begun = Promise.withResolvers<void>();
  const { handler } = scripted(async (item) => {
    if (phase === "data") await item.commitData();
    begun.resolve();
    return await bench.ended;
  });
  void bench.outbox(handler).run();
  await begun.promise;
}

Deno.test("Outbox.run() delivers what is due and removes row and index", () =>
  withStore(async (bench) => {
    const { handler, attempts, endings } = scripted({ result: "done" });
    const outbox = bench.outbox(handler);
    await bench.queue("a");
    await outbox.run();
    assert.deepEqual(attempts, [{ id: "a", payload: "payload of a", attempts: 1 }]);
    assert.deepEqual(endings, ["done"]);
    assert.equal((await bench.kv.get(["finished", "payload of a"])).value, "done");
    assert.equal(await bench.row("a"), null);
    assert.deepEqual(await bench.index(), []);
    assert.deepEqual(await listDead(bench.kv, 10), []);
  }));

Deno.test("Outbox.run() leaves what is due later until the clock says so", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted({ result: "done" });
    const outbox = bench.outbox(handler);
    await bench.queue("later", T0 + MINUTE_MS);
    await outbox.run();
    assert.equal(attempts.length, 0);
    bench.clock.nowMs = T0 + MINUTE_MS;
    await outbox.run();
    assert.equal(attempts.length, 1);
  }));

Deno.test("Outbox.run() leaves rows of a kind without a handler where they are", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted({ result: "done" });
    const outbox = bench.outbox(handler);
    await bench.queue("a", T0, "other");
    await outbox.run();
    assert.equal(attempts.length, 0);
    assert.deepEqual(await bench.index(), [[T0, "a", false]]);
  }));

Deno.test("a refused attempt is repeated at its due time, counted, with its changed payload", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted(
      { result: "retry", reason: "421", afterMs: MINUTE_MS, payload: "again" },
      { result: "done" },
    );
    const outbox = bench.outbox(handler);
    await bench.queue("a");
    await outbox.run();
    assert.deepEqual(await bench.index(), [[T0 + MINUTE_MS, "a", false]]);
    assert.equal((await bench.row("a"))!.lastReason, "421");
    bench.clock.nowMs += MINUTE_MS - 1;
    await outbox.run();
    assert.equal(attempts.length, 1);
    bench.clock.nowMs += 1;
    await outbox.run();
    assert.deepEqual(attempts[1], { id: "a", payload: "again", attempts: 2 });
    assert.equal(await bench.row("a"), null);
  }));

Deno.test("a refused attempt after the data marker is repeated: the refusal is certain", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted(
      async (item) => {
        await item.commitData();
        return { result: "retry", reason: "452", afterMs: 1 };
      },
      { result: "done" },
    );
    const outbox = bench.outbox(handler);
    await bench.queue("a");
    await outbox.run();
    assert.equal((await bench.row("a"))!.phase, "ready");
    bench.clock.nowMs += 1;
    await outbox.run();
    assert.equal(attempts.length, 2);
  }));

for (const result of ["dead", "unknown"] as const) {
  Deno.test(`what ended ${result} is not repeated and stays visible for 30 days`, () =>
    withStore(async (bench) => {
      const { handler, attempts, endings } = scripted({ result, reason: "550 at RCPT" });
      const outbox = bench.outbox(handler);
      await bench.queue("a");
      await outbox.run();
      bench.clock.nowMs += 24 * 60 * MINUTE_MS;
      await outbox.run();
      assert.equal(attempts.length, 1);
      assert.deepEqual(endings, [result]);
      assert.equal(await bench.row("a"), null);
      assert.deepEqual(await bench.index(), []);
      assert.deepEqual(await listDead(bench.kv, 10), [{
        v: 1,
        kind: "test",
        payload: "payload of a",
        queuedAtMs: T0,
        diedAtMs: T0,
        attempts: 1,
        reason: "550 at RCPT",
      }]);
      assert.notEqual((await bench.kv.get(deadKey(T0, "a"))).value, null);
      assert.match(bench.logged.join("\n"), /outgoing_given_up .*550 at RCPT/);
      assert.doesNotMatch(bench.logged.join("\n"), /payload/);
    }));
}

Deno.test("an attempt that throws before the data marker is repeated after a minute", () =>
  withStore(async (bench) => {
    const { handler, attempts } = scripted(
      () => Promise.reject(new Error("unforeseen")),
      { result: "done" },
    );
    const outbox = bench.outbox(handler);
    await bench.queue("a");
    await outbox.run();
    assert.deepEqual(await bench.index(), [[T0 + MINUTE_MS, "a", false]]);
    bench.clock.nowMs += MINUTE_MS;
    await outbox.run();
    assert.equal(attempts.length, 2);
  }));

Deno.test("an attempt that throws after the data marker is unknown", () =>
  withStore(async (bench) => {
    const { handler, endings } = scripted(async (item) => {
      await item.commitData();
      throw new Error("unforeseen");
    });
    const outbox = bench.outbox(handler);
    await bench.queue("a");
    await outbox.run();
    assert.deepEqual(endings, ["unknown"]);
    assert.match((await listDead(bench.kv, 10))[0]!.reason, /^unknown/);
  }));

Deno.test("two processes on one store attempt a row once", () =>
  withStore(async (bench) => {
    const one = scripted({ result: "done" });
    const other = scripted({ result: "done" });
    const outboxes = [
      bench.outbox(one.handler, { exclusive: false }),
      bench.outbox(other.handler, { exclusive: false }),
    ];
    for (let i = 0; i < 30; i++) await bench.queue(`row ${i}`);
    await Promise.all(outboxes.map((outbox) => outbox.run()));
    const ids = [...one.attempts, ...other.attempts].map(({ id }) => id);
    assert.equal(ids.length, 30);
    assert.equal(new Set(ids).size, 30);
  }));

Deno.test("Outbox.start() frees the leases of a former process on an exclusive store", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    await leaseAndDie(bench, "ready");
    assert.equal((await bench.index())[0]![2], true);
    const { handler, attempts } = scripted({ result: "done" });
    const outbox = bench.outbox(handler);
    await outbox.start();
    await outbox.run();
    assert.deepEqual(attempts, [{ id: "a", payload: "payload of a", attempts: 2 }]);
  }));

Deno.test("what a former process had handed over is unknown and never repeated", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    await leaseAndDie(bench, "data");
    const { handler, attempts, endings } = scripted({ result: "done" });
    const outbox = bench.outbox(handler);
    await outbox.start();
    await outbox.run();
    assert.equal(attempts.length, 0);
    assert.deepEqual(endings, ["unknown"]);
    assert.equal((await listDead(bench.kv, 10)).length, 1);
  }));

Deno.test("on a shared store a dead process's row waits for the end of its lease", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    await leaseAndDie(bench, "ready");
    const { handler, attempts } = scripted({ result: "done" });
    const outbox = bench.outbox(handler, { exclusive: false });
    await outbox.start();
    await outbox.run();
    assert.equal(attempts.length, 0);
    bench.clock.nowMs = T0 + MINUTE_MS;
    await outbox.run();
    assert.equal(attempts.length, 1);
  }));

Deno.test("an attempt whose lease was taken over hands nothing over and settles nothing", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    const begun = Promise.withResolvers<void>();
    const proceed = Promise.withResolvers<void>();
    let refused: unknown;
    const slow = scripted(async (item) => {
      begun.resolve();
      await proceed.promise;
      await item.commitData().catch((error) => refused = error);
      throw refused;
    });
    const first = bench.outbox(slow.handler, { exclusive: false });
    const running = first.run();
    await begun.promise;
    bench.clock.nowMs += MINUTE_MS + 5_000;
    const taking = scripted({ result: "done" });
    await bench.outbox(taking.handler, { exclusive: false }).run();
    assert.equal(taking.attempts.length, 1);
    proceed.resolve();
    await running;
    assert.ok(refused instanceof LeaseLost);
    assert.deepEqual(slow.endings, []);
    assert.equal(await bench.row("a"), null);
  }));

Deno.test("one kind attempts no more rows at one time than its concurrency", () =>
  withStore(async (bench) => {
    let running = 0;
    let most = 0;
    const { handler, attempts } = scripted(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve));
      running--;
      return { result: "done" };
    });
    const outbox = bench.outbox(handler);
    for (let i = 0; i < 25; i++) await bench.queue(`row ${i}`);
    await outbox.run();
    assert.equal(attempts.length, 25);
    assert.equal(most, 4);
  }));

Deno.test("Outbox.stop() gives up what is not handed over, uncounted and due at once", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    const begun = Promise.withResolvers<void>();
    const { handler } = scripted((item) => {
      begun.resolve();
      return new Promise((resolve) => {
        item.signal.onabort = () =>
          resolve({ result: "retry", reason: "given up", afterMs: MINUTE_MS });
      });
    });
    const outbox = bench.outbox(handler);
    const running = outbox.run();
    await begun.promise;
    await outbox.close();
    await running;
    const row = (await bench.row("a"))!;
    assert.deepEqual([row.attempts, row.lease, row.dueMs, row.phase], [0, null, T0, "ready"]);
  }));

Deno.test("Outbox.close() waits for the answer to what was handed over", () =>
  withStore(async (bench) => {
    await bench.queue("a");
    const begun = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<AttemptOutcome<string>>();
    const { handler, endings } = scripted(async (item) => {
      await item.commitData();
      begun.resolve();
      return await answer.promise;
    });
    const outbox = bench.outbox(handler);
    const running = outbox.run();
    await begun.promise;
    const closing = outbox.close();
    answer.resolve({ result: "done" });
    await closing;
    await running;
    assert.deepEqual(endings, ["done"]);
  }));

Deno.test("a commit that is reported as failed after it succeeded loses and repeats nothing", () =>
  withStore(async (bench) => {
    const { handler, attempts, endings } = scripted(
      async (item) => {
        await item.commitData();
        return { result: "retry", reason: "451", afterMs: 1 };
      },
      { result: "done" },
    );
    const outbox = bench.outbox(handler, { exclusive: false });
    await bench.queue("a");
    await outbox.run();
    bench.clock.nowMs += 1;
    await outbox.run();
    assert.equal(attempts.length, 2);
    assert.deepEqual(endings, ["done"]);
    assert.equal(await bench.row("a"), null);
    assert.deepEqual(await bench.index(), []);
  }, denyingCommits));

Deno.test("a store that fails leaves the row to a later look", () => {
  const failing = { on: false };
  return withStore(async (bench) => {
    const { handler, attempts } = scripted({ result: "done" });
    const outbox = bench.outbox(handler);
    await bench.queue("a");
    failing.on = true;
    await outbox.run();
    failing.on = false;
    assert.equal(attempts.length, 0);
    bench.clock.nowMs += 1_000;
    await outbox.run();
    assert.equal(attempts.length, 1);
  }, (kv) => failingCommits(kv, failing));
});

Deno.test("Outbox.start() ticks: a row that falls due is delivered without a call", () =>
  withStore(async (bench) => {
    const delivered = Promise.withResolvers<void>();
    const { handler } = scripted(() => {
      delivered.resolve();
      return Promise.resolve({ result: "done" });
    });
    const outbox = bench.outbox(handler, { tickMs: 1 });
    await outbox.start();
    await bench.queue("a");
    outbox.wake(bench.clock.nowMs);
    const awake = setInterval(() => {}, 1_000);
    await delivered.promise;
    clearInterval(awake);
  }));

/** A store whose commits succeed and are reported as failed. */
function denyingCommits(kv: Deno.Kv): Deno.Kv {
  return withCommit(kv, async (operation) => {
    await operation.commit();
    return { ok: false };
  });
}

function failingCommits(kv: Deno.Kv, failing: { on: boolean }): Deno.Kv {
  return withCommit(kv, (operation) => {
    if (failing.on) throw new Error("the disk is gone");
    return operation.commit();
  });
}

function withCommit(
  kv: Deno.Kv,
  commit: (operation: Deno.AtomicOperation) => Promise<Deno.KvCommitResult | Deno.KvCommitError>,
): Deno.Kv {
  return new Proxy(kv, {
    get(target, name) {
      if (name !== "atomic") {
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return () => {
        const operation = target.atomic();
        const proxy: Deno.AtomicOperation = new Proxy(operation, {
          get(inner, method) {
            if (method === "commit") return () => commit(operation);
            const value = Reflect.get(inner, method);
            return (...args: unknown[]) => {
              value.apply(inner, args);
              return proxy;
            };
          },
        });
        return proxy;
      };
    },
  });
}
