/**
 * Whatever happens to the processes of a store, exclusive ones and shared ones in turn: every
 * acknowledged job has changed each of its records once, and no other has changed some of them.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { QUEUE_BOUNDS } from "../../server/base/storage/commits/job_queue.ts";
import { replayJournal } from "../../server/base/storage/commits/replay_journal.ts";
import { EMBEDDED_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { createFakeKv, type FakeKv, NO_FAULTS, seededRandom } from "../support/fake_kv.ts";
import {
  journalNumbers,
  known,
  stepOf,
  storeOn,
  tabJob,
  tabKey,
  until,
} from "../support/journal.ts";
import { isLong } from "../support/long_test.ts";
import { delay } from "../support/pace.ts";
import { propertyRuns } from "../support/property_runs.ts";
import { openTestStorage, type TestStorage } from "../support/storage.ts";
import { storedRecord } from "../support/read_through.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"];
const FAULTS = { deniedSuccess: 0.08, lostAnswer: 0.08, locked: 0.1, repeated: 0.08 };
/** Commits that reach the store after their process was told that they failed. */
const LATE = 0.08;
const BOUNDS = { ...QUEUE_BOUNDS, giveUpAfterMs: 250, checkEveryMs: 10, retryForMs: 200 };

const jobs = fc.array(
  fc.record({
    names: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }),
    /** Now and then so many bytes that few of them fit a row of the journal. */
    length: fc.constantFrom(0, 0, 0, 9_000),
    /** Real milliseconds after all before it was answered; null when it does not wait for them. */
    afterMs: fc.constantFrom(null, null, null, 0, 2),
  }),
  { minLength: 4, maxLength: 24, size: "max" },
);
const phases = fc.array(
  fc.record({
    shared: fc.constantFrom(false, false, true),
    jobs,
    /** After so many commits the process is killed; never if null. */
    killedAfter: fc.option(fc.integer({ min: 0, max: 40 }), { freq: 3 }),
    /** Whether the commit that it died over was stored. */
    isStored: fc.boolean(),
    hasFaults: fc.boolean(),
    /** Records in memory; concurrent jobs need several. */
    cached: fc.integer({ min: 5, max: 12 }),
    bounds: fc.record({
      rows: fc.integer({ min: 1, max: 8 }),
      records: fc.integer({ min: 1, max: 8 }),
      afterMs: fc.constantFrom(1, 5, 10_000),
      batch: fc.integer({ min: 1, max: 4 }),
    }),
    seed: fc.nat(),
  }),
  { minLength: 1, maxLength: 5 },
);
type Phase = typeof phases extends fc.Arbitrary<(infer T)[]> ? T : never;

/** A store as one process meets it, until it is killed. */
class Life {
  readonly kv: FakeKv;
  #commits = 0;
  readonly #late: Promise<unknown>[] = [];
  #isOver = false;

  constructor(kv: Deno.Kv, { killedAfter, isStored, hasFaults, shared, seed }: Phase) {
    const random = seededRandom(seed);
    this.kv = createFakeKv({
      kv,
      maxChecks: 100,
      seed,
      delayMs: 1,
      intercept: async (commit, run) => {
        if (this.#isOver) throw new TypeError("killed");
        if (this.#commits++ === killedAfter) {
          this.#isOver = true;
          if (isStored) await run();
          throw new TypeError("killed");
        }
        if (hasFaults && !shared && stepOf(commit) === "group" && random() < LATE) {
          this.#late.push(delay(random() * 12).then(run));
          throw new TypeError("error sending request");
        }
        return await run();
      },
    });
  }

  get isKilled(): boolean {
    return this.#isOver;
  }

  /** Nothing of the process reaches the store any more. */
  async over(): Promise<void> {
    await Promise.all(this.#late);
    this.#isOver = true;
  }
}

/** What the clients of all processes know. */
class Clients {
  readonly asked = new Map<number, readonly string[]>();
  readonly acknowledged = new Set<number>();

  async run(storage: TestStorage, { jobs }: Phase): Promise<void> {
    let open: Promise<void>[] = [];
    for (const { names, length, afterMs } of jobs) {
      if (afterMs !== null) {
        await Promise.all(open.splice(0));
        if (afterMs > 0) await delay(afterMs);
      }
      const operation = this.asked.size;
      this.asked.set(operation, names);
      const text = length === 0 ? undefined : "x".repeat(length);
      const answered = storage.commits.submit(tabJob(storage, operation, names, text));
      open.push(answered.then(
        () => void this.acknowledged.add(operation),
        (error) => assert.equal(error.code, "unavailable", error.stack),
      ));
    }
    await Promise.all(open);
    open = [];
  }

  /** The store, with what its journal holds, is what a model of these jobs is. */
  async check(kv: Deno.Kv): Promise<void> {
    const rows = await Array.fromAsync(kv.list({ prefix: ["done"] }));
    const stored = new Set(rows.map(({ key }) => key[1] as number));
    for (const one of this.acknowledged) assert.ok(stored.has(one), `${one} was acknowledged`);
    for (const name of NAMES) {
      const expected = [...stored].filter((one) => this.asked.get(one)!.includes(name));
      const found = (await storedRecord(kv, tabKey(name))).value?.done ?? [];
      assert.deepEqual(found.toSorted((a, b) => a - b), expected.toSorted((a, b) => a - b), name);
    }
  }
}

async function runExclusive(kv: Deno.Kv, clients: Clients, phase: Phase): Promise<void> {
  const life = new Life(kv, phase);
  const { cached, bounds: journalBounds } = phase;
  let storage: TestStorage;
  try {
    storage = await openTestStorage(life.kv, { cached, journalBounds, bounds: BOUNDS });
  } catch (error) {
    assert.ok(life.isKilled, (error as Error).stack);
    return;
  }
  await clients.check(kv);
  assert.deepEqual(await journalNumbers(kv), [], "a start leaves no journal");
  if (phase.hasFaults) Object.assign(life.kv.faults, FAULTS);
  await clients.run(storage, phase);
  // A job that was given up may be under way for a while.
  const isRight = async (name: string) =>
    `${await known(storage, name)}` ===
      `${(await storedRecord(kv, tabKey(name))).value?.done ?? []}`;
  for (const name of NAMES) if (!life.isKilled) await until(() => isRight(name));
  if (phase.killedAfter === null) {
    Object.assign(life.kv.faults, NO_FAULTS);
    await storage.close();
    await life.over();
    // An answer that is lost may leave a commit unclear at the end.
    if (!phase.hasFaults) assert.deepEqual(await journalNumbers(kv), [], "it ended in order");
    return;
  }
  await life.over();
  await clients.check(kv);
  await storage.close();
}

/** Several processes start at the same time; one of them may be killed over it. */
async function runShared(kv: Deno.Kv, clients: Clients, phase: Phase): Promise<void> {
  const lives = [phase, { ...phase, killedAfter: null }, { ...phase, killedAfter: null }]
    .map((one, i) => new Life(kv, { ...one, seed: phase.seed + i }));
  await Promise.all(lives.map(async (life) => {
    if (phase.hasFaults) Object.assign(life.kv.faults, FAULTS, { lostAnswer: 0 });
    const capacity = { ...EMBEDDED_CAPACITY, mutations: 5 };
    const replayed = replayJournal(storeOn(life.kv, capacity)).then(() => true, (error) => {
      assert.ok(life.isKilled, error.stack);
      return false;
    });
    if (!await replayed) return;
    assert.deepEqual(await journalNumbers(kv), [], "whoever may read finds no journal");
  }));
  await clients.check(kv);
  const storage = await openTestStorage(kv, { exclusive: false, cached: phase.cached });
  const refused = clients.asked.size - clients.acknowledged.size;
  await clients.run(storage, phase);
  assert.equal(clients.asked.size - clients.acknowledged.size, refused, "no faults, no refusals");
  await clients.check(kv);
  await storage.close();
}

const RUNS = isLong ? 15 : 5;

Deno.test("records of a journal are what the acknowledged jobs have made of them, through faults, kills and changes of the kind of store", async () => {
  let left = 0;
  await fc.assert(
    fc.asyncProperty(phases, async (all) => {
      using kv = await Deno.openKv(":memory:");
      const clients = new Clients();
      for (const phase of all) {
        await (phase.shared ? runShared : runExclusive)(kv, clients, phase);
        left += (await journalNumbers(kv)).length;
        await clients.check(kv);
      }
      await runExclusive(kv, clients, { ...all[0]!, killedAfter: null });
      await clients.check(kv);
    }),
    propertyRuns(RUNS, false),
  );
  assert.ok(left > RUNS, `${left} rows were left to next starts`);
  await delay(200); // retries that their jobs did not wait for
});
