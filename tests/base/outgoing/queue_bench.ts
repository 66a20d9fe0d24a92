/** An outgoing queue of a test over a store in memory, with a clock that is moved and a handler that is scripted. */
import assert from "node:assert/strict";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { openTestStorage, type TestStorage } from "../../support/storage.ts";
import { OutgoingQueue } from "../../../server/base/outgoing/outgoing_queue.ts";
import {
  type AttemptOutcome,
  type Ending,
  type OutgoingHandler,
  type OutgoingItem,
} from "../../../server/base/outgoing/outgoing_handler.ts";
import {
  type NewOutgoing,
  outgoingKey,
  type OutgoingRow,
  QUEUED_TOPIC,
  type QueuedOutgoing,
  stageNewOutgoing,
  stageOutgoing,
} from "../../../server/base/outgoing/outgoing_row.ts";

export const T0 = Date.UTC(2026, 5, 1);
export const MINUTE_MS = 60_000;

export interface Bench {
  /** Settles after the test: what a dead process never sees. */
  ended: Promise<AttemptOutcome<string>>;
  kv: Deno.Kv;
  /** Set ahead, time passes; set back, or by leap(), the wall leaps. */
  clock: { nowMs: number } & Pick<TestClock, "leap">;
  logged: string[];
  outgoing(
    handler: OutgoingHandler<string>,
    options?: { exclusive?: boolean; tickMs?: number },
  ): Promise<OutgoingQueue>;
  queue(id: string, dueMs?: number, kind?: string, destination?: string): Promise<void>;
  /** Queues something as the process of the newest queue. */
  commit(item: NewOutgoing): Promise<void>;
  /** Tells every queue of a row, as the commit of each would. */
  announce(row: QueuedOutgoing): Promise<void>;
  row(id: string): Promise<OutgoingRow | null>;
  index(): Promise<[dueMs: number, id: string, leased: boolean][]>;
}

export async function withStore(
  test: (bench: Bench) => Promise<void>,
  wrap: (kv: Deno.Kv) => Deno.Kv = (kv) => kv,
): Promise<void> {
  const plain = await openMemoryKv();
  const kv = wrap(plain);
  const time = createTestClock(T0);
  const clock = {
    get nowMs() {
      return time.now();
    },
    set nowMs(ms) {
      time.set(ms);
    },
    leap: time.leap,
  };
  const logged: string[] = [];
  const queues: OutgoingQueue[] = [];
  const storages: TestStorage[] = [];
  const ended = Promise.withResolvers<AttemptOutcome<string>>();
  try {
    await test({
      ended: ended.promise,
      kv,
      clock,
      logged,
      async outgoing(handler, { exclusive = true, tickMs } = {}) {
        const storage = await openTestStorage(kv, { exclusive, clock: time });
        storages.push(storage);
        const { store, records, commits } = storage;
        const outgoing = new OutgoingQueue({
          store,
          records,
          commits,
          tickMs,
          log: (event, fields = {}) => void logged.push(`${event} ${JSON.stringify(fields)}`),
        });
        outgoing.register(handler);
        queues.push(outgoing);
        return outgoing;
      },
      async queue(id, dueMs = clock.nowMs, kind = "test", destination) {
        const item = { id, kind, destination, payload: `payload of ${id}`, dueMs };
        assert.equal(await queueDirectly(plain, clock.nowMs, item), true);
      },
      commit: (item) =>
        storages.at(-1)!.commits.submit((transaction) => stageNewOutgoing(transaction, item)),
      async announce(row) {
        for (const { commits } of storages) {
          await commits.submit((transaction) => transaction.announce(QUEUED_TOPIC, row));
        }
      },
      row: async (id) => (await plain.get<OutgoingRow>(outgoingKey(id))).value,
      async index() {
        const rows: [number, string, boolean][] = [];
        for (const prefix of [["outgoing-lane"], ["outgoing-leased"]]) {
          for await (const { key } of plain.list({ prefix })) {
            rows.push([
              key.at(-2) as number,
              key.at(-1) as string,
              prefix[0] === "outgoing-leased",
            ]);
          }
        }
        return rows;
      },
    });
  } finally {
    ended.resolve({ result: "retry", reason: "the test is over", afterMs: 1 });
    for (const outgoing of queues) await outgoing.close();
    for (const storage of storages) await storage.close();
    plain.close();
  }
}

/** Queues something as another process does. @returns false where it is queued already */
export async function queueDirectly(
  kv: Deno.Kv,
  nowMs: number,
  item: NewOutgoing,
): Promise<boolean> {
  const found = await kv.get(outgoingKey(item.id));
  const operation = kv.atomic().check(found);
  const staged = stageOutgoing({
    nowMs,
    record: <R>() => found.value as R | null,
    putRecord: (key, value) => void operation.set(key, value),
    set: (key, value) => void operation.set(key, value),
    announce: () => {},
  }, item);
  return staged && (await operation.commit()).ok;
}

/** A handler that answers from a script and remembers what it was asked. */
export function scripted(
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
    longestPauseMs: 5 * MINUTE_MS,
    extraWrites: ({ result, payload }) =>
      result === "retry" ? null : (transaction) => {
        endings.push(result);
        transaction.set(["finished", payload], result);
      },
  };
  return { handler, attempts, endings };
}

/** Leaves a row as a process that was killed leaves it: leased, in this phase. */
export async function leaseAndDie(bench: Bench, phase: "ready" | "data"): Promise<void> {
  const begun = Promise.withResolvers<void>();
  const { handler } = scripted(async (item) => {
    if (phase === "data") await item.commitData();
    begun.resolve();
    return await bench.ended;
  });
  void (await bench.outgoing(handler)).run();
  await begun.promise;
}
