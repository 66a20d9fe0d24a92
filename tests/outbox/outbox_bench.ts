/** An outbox of a test over a store in memory, with a clock that is moved and a handler that is scripted. */
import assert from "node:assert/strict";
import { EMBEDDED_CAPACITY, type Store } from "../../server/storage/store.ts";
import { Outbox } from "../../server/outbox/outbox.ts";
import {
  type AttemptOutcome,
  type Ending,
  type OutgoingHandler,
  type OutgoingItem,
} from "../../server/outbox/outgoing_handler.ts";
import {
  type DueRow,
  outgoingKey,
  type OutgoingRow,
  stageOutgoing,
} from "../../server/outbox/outgoing_row.ts";

export const T0 = Date.UTC(2026, 5, 1);
export const MINUTE_MS = 60_000;

export interface Bench {
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

export async function withStore(
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
    finish(ending, payload, operation) {
      endings.push(ending);
      operation.set(["finished", payload], ending);
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
  void bench.outbox(handler).run();
  await begun.promise;
}
