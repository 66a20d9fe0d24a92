/** Deliveries of the outgoing queue, each with its three commits, against the same answers with none. */
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { OutgoingQueue } from "../../server/base/outgoing/outgoing_queue.ts";
import { outgoingKey, stageOutgoing } from "../../server/base/outgoing/outgoing_row.ts";
import { ClockWatch } from "../../server/base/storage/rows/clock_watch.ts";
import { GroupCommit } from "../../server/base/storage/commits/group_commit.ts";
import { IdSequence } from "../../server/base/storage/commits/id_sequence.ts";
import { RecordCache } from "../../server/base/storage/commits/record_cache.ts";
import { createStore, EMBEDDED_CAPACITY } from "../../server/base/storage/rows/store.ts";
import type { Row } from "../row.ts";

const KIND = "bench";
const ROWS = 400;
const AT_ONCE = 8;
/** Time that the other side takes to answer. */
const ANSWER_MS = 20;

export const outgoingDeliveries: Row = {
  id: "outgoing",
  title: "400 due deliveries, 8 at one time, answers after 20 ms: leased, marked and taken off " +
    "against nothing stored",
  unit: "/s",
  // 8 at a time of 20 ms each are 400 a second at most: half of it is 200.
  target: { rule: "at least", ratio: 0.5 },
  async prepare({ temporaryFolder, count }) {
    const rows = count(ROWS);
    const kv = await Deno.openKv(`${temporaryFolder}/outgoing.sqlite3`);
    const elapsed = () => performance.now();
    const store = createStore({
      backend: new KvBackend(kv),
      exclusive: true,
      capacity: EMBEDDED_CAPACITY,
      now: Date.now,
      elapsed,
      lived: elapsed,
      clock: new ClockWatch({ now: Date.now, elapsed, log: () => {} }),
      random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    });
    const records = new RecordCache(store);
    const ids = await IdSequence.open(store, null);
    const commits = new GroupCommit({ store, records, ids, onUnheard: reportError });
    const outgoing = new OutgoingQueue({ store, records, commits, log: () => {} });
    let delivered = 0;
    outgoing.register<string>({
      kind: KIND,
      concurrency: AT_ONCE,
      longestPauseMs: 60_000,
      async attempt({ commitData }) {
        await commitData();
        await answer();
        delivered++;
        return { result: "done" };
      },
    });

    async function queue(id: string): Promise<void> {
      await commits.submit({
        records: [outgoingKey(id)],
        sizeBytes: 1_000,
        plan: (transaction) =>
          stageOutgoing(transaction, {
            id,
            kind: KIND,
            payload: "payload",
            dueMs: transaction.nowMs,
          }),
      });
    }
    return {
      async ours() {
        await Promise.all(Array.from({ length: rows }, (_, i) => queue(`row ${i}`)));
        delivered = 0;
        const beganMs = performance.now();
        await outgoing.run();
        const rate = rows / ((performance.now() - beganMs) / 1000);
        if (delivered !== rows) throw new Error(`${delivered} of ${rows} rows were delivered`);
        return rate;
      },
      async reference() {
        let left = rows;
        const beganMs = performance.now();
        await Promise.all(Array.from({ length: AT_ONCE }, async () => {
          while (left-- > 0) await answer();
        }));
        return rows / ((performance.now() - beganMs) / 1000);
      },
      async close() {
        await outgoing.close();
        await commits.drained();
        kv.close();
      },
    };
  },
};

function answer(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
}
