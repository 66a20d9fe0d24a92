/** A kind of mailbox that no part of the relay has, with ULIDs as heads, on both kinds of store. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Job } from "../../../server/base/storage/commits/group_commit.ts";
import { defineRecord, type RecordKey } from "../../../server/base/storage/commits/record_key.ts";
import type { MailboxKind } from "../../../server/base/waiting/mailbox_kind.ts";
import type { MailboxWaits } from "../../../server/base/waiting/mailbox_waits.ts";
import { Waits } from "../../../server/base/waiting/waits.ts";
import { settlesWithin } from "../../support/pace.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { openTestStorage, type TestStorage } from "../../support/storage.ts";

interface Locker {
  newestId: string;
}

interface Stored {
  lockers: readonly RecordKey<Locker>[];
}

const lockerKey = defineRecord<Locker, [hall: string, locker: string]>(["locker"], 2);

const LOCKERS: MailboxKind<Locker, string> = {
  marks: ["locker-mark"],
  headOf: ({ newestId }) => newestId,
  changedBy: (result) => (result as Partial<Stored> | null)?.lockers ?? [],
};

/** One process: what it stores is waited for in it and in others. */
interface Process {
  storage: TestStorage;
  waits: Waits;
  lockers: MailboxWaits<Locker, string>;
  /** A second passes. */
  tick: () => void;
  /** Commits a newer id to a locker. */
  store: (locker: RecordKey<Locker>, id: string) => Promise<void>;
  close: () => Promise<void>;
}

async function openProcess(
  kv: Deno.Kv,
  { exclusive, watchable }: { exclusive: boolean; watchable: boolean },
): Promise<Process> {
  const storage = await openTestStorage(kv, { exclusive });
  const ticks = new Set<() => void>();
  const waits = new Waits({
    ...storage,
    bound: 1_000,
    watchable,
    startTicker: (tick) => {
      ticks.add(tick);
      return () => void ticks.delete(tick);
    },
  });
  const lockers = waits.at(LOCKERS);
  return {
    storage,
    waits,
    lockers,
    tick: () => ticks.forEach((tick) => tick()),
    async store(locker, id) {
      const job: Job<Stored> = {
        plan(transaction) {
          transaction.putRecord(locker, { newestId: id });
          return { lockers: [locker] };
        },
        committed: () => lockers.announce(locker),
      };
      await storage.commits.submit(job);
    },
    async close() {
      waits.close();
      await storage.close();
    },
  };
}

/** Far more than any wake-up takes, on a machine as busy as it may be. */
const SOON_MS = 30_000;
const LOCKER = lockerKey("hall_a", "lck_01JZ8Q4Z5T9W3V7K2M6N8P0R1S");
const ids = ["msg_01JZ8Q4Z5T0000000000000001", "msg_01JZ8Q4Z5T0000000000000002"] as const;

async function assertSoon<T>(promise: Promise<T>, expected: T): Promise<void> {
  assert.ok(await settlesWithin(promise, SOON_MS), "nothing has woken it");
  assert.deepEqual(await promise, expected);
}

Deno.test("a commit wakes who waits for a newer ULID, and each commit a stream, on an exclusive store", async () => {
  using kv = await openMemoryKv();
  const process = await openProcess(kv, { exclusive: true, watchable: false });
  const { lockers, store } = process;
  const first = lockers.untilAbove(LOCKER, null, {});
  const second = lockers.untilAbove(LOCKER, ids[0], {});
  const stream = lockers.open(LOCKER)!;
  await store(LOCKER, ids[0]);
  await assertSoon(first, { ended: "above", head: ids[0] });
  await assertSoon(stream.next(), "changed");
  assert.equal(process.waits.size, 2);
  await store(LOCKER, ids[1]);
  await assertSoon(second, { ended: "above", head: ids[1] });
  await assertSoon(stream.next(), "changed");
  await process.close();
  await assertSoon(stream.next(), "stopped");
});

for (const watchable of [true, false]) {
  const how = watchable ? "that is watched" : "that is looked at each second";
  Deno.test(`a commit of one process wakes who waits for a newer ULID in another, on a shared store ${how}`, async () => {
    const dir = await Deno.makeTempDir({ prefix: "relay-waits-" });
    const path = join(dir, "shared.kv");
    const [kvOfA, kvOfB] = [await Deno.openKv(path), await Deno.openKv(path)];
    const a = await openProcess(kvOfA, { exclusive: false, watchable });
    const b = await openProcess(kvOfB, { exclusive: false, watchable });
    // Fewer seconds than the ten after which everything is looked at.
    let secondsLeft = watchable ? 0 : 9;
    const passing = setInterval(() => secondsLeft-- > 0 && b.tick(), 100);
    try {
      await a.store(LOCKER, ids[0]);
      const waiting = Array.from({ length: 3 }, () => b.lockers.untilAbove(LOCKER, ids[0], {}));
      const beside = b.lockers.untilAbove(lockerKey("hall_b", LOCKER[2] as string), null, {});
      const stream = b.lockers.open(LOCKER)!;
      assert.equal(await settlesWithin(Promise.race([...waiting, beside]), 200), false);
      await a.store(LOCKER, ids[1]);
      for (const wait of waiting) await assertSoon(wait, { ended: "above", head: ids[1] });
      await assertSoon(stream.next(), "changed");
      assert.equal(b.waits.size, 2);
      b.waits.close();
      await assertSoon(beside, { ended: "stopped" });
    } finally {
      clearInterval(passing);
      await a.close();
      await b.close();
      kvOfA.close();
      kvOfB.close();
      await Deno.remove(dir, { recursive: true });
    }
  });
}
