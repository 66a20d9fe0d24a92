/** Waits at mailboxes of a kind that tests make up, over a store that says what is read of it. */
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { defineRecord } from "../../server/base/storage/commits/record_key.ts";
import { RecordCache } from "../../server/base/storage/commits/record_cache.ts";
import { createStore, EMBEDDED_CAPACITY } from "../../server/base/storage/rows/store.ts";
import type { MailboxKind } from "../../server/base/waiting/mailbox_kind.ts";
import type { MailboxWaits } from "../../server/base/waiting/mailbox_waits.ts";
import type { WaitBounds, Waiter } from "../../server/base/waiting/waiter.ts";
import { Waits } from "../../server/base/waiting/waits.ts";
import { wakeKey, wakeShardOf } from "../../server/base/waiting/wake_marks.ts";
import { createTestClock } from "./clock.ts";
import { storeTimes } from "./storage.ts";
import { createFakeKv } from "./fake_kv.ts";

/** A mailbox with numbers as heads. */
export interface Pigeonhole {
  head: number;
}

export const holeKey = defineRecord<Pigeonhole, [hole: number]>(["pigeonhole"], 1);
export const holeVisitKey = (hole: number): Deno.KvKey => ["pigeonhole-visit", hole];

export const PIGEONHOLES: MailboxKind<Pigeonhole, number> = {
  marks: ["pigeonhole-mark"],
  headOf: ({ head }) => head,
  changedBy: () => [],
  alsoLooksAt: ([, hole]) => holeVisitKey(hole as number),
};

/** What has come of a wait so far. */
export interface ObservedWait {
  waiter: Waiter<number>;
  /** First outcome of next(), null before. */
  outcome: () => string | null;
  isOver: () => boolean;
}

export interface WaitingRig {
  kv: Deno.Kv;
  waits: Waits;
  holes: MailboxWaits<Pigeonhole, number>;
  records: RecordCache;
  /** So many seconds pass. */
  tick: (seconds?: number) => Promise<void>;
  tickers: () => number;
  /** Mailboxes that were read, by number. */
  reads: number[];
  wait: (hole: number, bounds?: WaitBounds) => ObservedWait;
  /** A wait whose first needless wake-up is over: it waits for what comes now. */
  waitSettled: (hole: number) => Promise<ObservedWait>;
  /** Another process commits something to a mailbox. */
  deliver: (hole: number) => Promise<void>;
  breakWatch: () => Promise<void>;
}

export interface WaitingRigOptions {
  exclusive?: boolean;
  watchable?: boolean;
  bound?: number;
}

export async function withWaits(
  body: (rig: WaitingRig) => Promise<void>,
  { exclusive = false, watchable = false, bound = 10_000 }: WaitingRigOptions = {},
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const { fake, reads, watches } = createObservedKv(kv);
  const store = createStore({
    backend: new KvBackend(fake),
    exclusive,
    capacity: EMBEDDED_CAPACITY,
    ...storeTimes(createTestClock()),
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
  });
  const records = new RecordCache(store);
  const ticks = new Set<() => void>();
  const waits = new Waits({
    store,
    records,
    commits: { annotateGroups: () => {} },
    bound,
    watchable,
    startTicker: (tick) => {
      ticks.add(tick);
      return () => void ticks.delete(tick);
    },
  });
  const holes = waits.at(PIGEONHOLES);
  const wait: WaitingRig["wait"] = (hole, bounds) => {
    let outcome: string | null = null;
    const waiter = holes.open(holeKey(hole), bounds)!;
    void waiter.next().then((given) => outcome = given);
    return { waiter, outcome: () => outcome, isOver: () => outcome !== null };
  };
  const tick = async (seconds = 1) => {
    for (let second = 0; second < seconds; second++) {
      ticks.forEach((tick) => tick());
      await settle(kv);
    }
  };
  let heads = 0;
  try {
    await body({
      kv: fake,
      waits,
      holes,
      records,
      tick,
      tickers: () => ticks.size,
      reads,
      wait,
      async waitSettled(hole) {
        const isFirst = ticks.size === 0; // the others have no needless one
        const needless = wait(hole);
        await tick();
        await settle(kv, () => !isFirst || needless.isOver());
        const settled = wait(hole);
        needless.waiter.end();
        return settled;
      },
      async deliver(hole) {
        const mark = wakeKey(PIGEONHOLES, wakeShardOf(holeKey(hole)));
        await kv.atomic().set(holeKey(hole), { head: ++heads }).set(mark, heads).commit();
      },
      async breakWatch() {
        for (const controller of watches.splice(0)) controller.error(new Error("connection lost"));
        await settle(kv);
      },
    });
  } finally {
    waits.close();
    await settle(kv);
    kv.close();
  }
  if (ticks.size > 0) throw new Error("something still ticks after the waits were closed");
}

/**
 * Lets what runs in the background come to its next wait; and on until something has happened, for
 * as long as a busy machine may take, where a test asserts that it does.
 */
export async function settle(kv: Deno.Kv, until: () => boolean = () => true): Promise<void> {
  for (let i = 0; i < 10 || (i < 20_000 && !until()); i++) await kv.get(["nothing"]);
}

/** A store that notes which pigeonholes are read together, and whose watches a test may break. */
function createObservedKv(kv: Deno.Kv) {
  const fake = createFakeKv({ kv });
  const reads: number[] = [];
  const getMany = fake.getMany.bind(fake);
  fake.getMany = ((keys: Deno.KvKey[]) => {
    for (const key of keys) if (key[0] === "pigeonhole") reads.push(key[1] as number);
    return getMany(keys);
  }) as typeof fake.getMany;
  const watches: ReadableStreamDefaultController[] = [];
  const watch = fake.watch.bind(fake);
  fake.watch = ((keys: Deno.KvKey[]) => {
    const source = watch(keys).getReader();
    return new ReadableStream({
      start: (controller) => void watches.push(controller),
      async pull(controller) {
        const { done, value } = await source.read();
        if (!done) controller.enqueue(value);
      },
      cancel: () => source.cancel(),
    });
  }) as unknown as typeof fake.watch;
  return { fake, reads, watches };
}
