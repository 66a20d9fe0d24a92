import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createFakeKv, type FakeKv } from "../../../tests/support/fake_kv.ts";
import { createTestClock, type TestClock } from "../../../tests/support/clock.ts";
import { openTestStorage, type TestStorage } from "../../../tests/support/storage.ts";
import { Leases } from "../storage/leases/leases.ts";
import { defineRecord } from "../storage/commits/record_key.ts";
import { KV_CONNECT_CAPACITY, type Store } from "../storage/rows/store.ts";
import { type Mark, putBeside, Repetitions } from "./repetitions.ts";
import { type RepetitionKind, RepetitionSweep } from "./repetition_sweep.ts";

const HOUR_MS = 3_600_000;
const LIFE_MS = 24 * HOUR_MS;
const STORED_MS = LIFE_MS + 2 * HOUR_MS;

const useKey = defineRecord<Mark, [name: string]>(["test-use"], 1);
const endsKey = defineRecord<{ ended: number }>(["test-ended"], 0)();
const plainKey = (name: string): Deno.KvKey => ["test-plain", name];

const USES: RepetitionKind = {
  name: "test-use",
  extraWrites: {
    records: () => [endsKey],
    plan(transaction, { held }) {
      const ended = (transaction.record(endsKey)?.ended ?? 0) + (held as number);
      transaction.putRecord(endsKey, { ended });
    },
  },
};
const RECORDS = new Repetitions<Mark>({ name: "test-use", lifeMs: LIFE_MS });
const PLAIN = new Repetitions<Mark>({ name: "test-plain", lifeMs: LIFE_MS });

interface World {
  kv: Deno.Kv;
  clock: TestClock;
  storages: readonly TestStorage[];
  sweeps: readonly RepetitionSweep[];
  /** Of stores that are no exclusive ones. */
  fakes: readonly FakeKv[];
  /** How many rows there are, bookkeeping not counted. */
  rows(): Promise<number>;
}

/** A store in which something happens behind the next look at rows. */
function afterRead(store: Store, then: () => Promise<void>): Store {
  const getMany = async (keys: readonly Deno.KvKey[]) => {
    const rows = await store.getMany(keys as Deno.KvKey[]);
    if (keys.length > 0) await then();
    return rows;
  };
  return Object.assign(Object.create(store), { getMany });
}

async function withSweeps(
  test: (world: World) => Promise<void>,
  { exclusive = false } = {},
): Promise<void> {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const storages: TestStorage[] = [];
  const fakes: FakeKv[] = [];
  for (let i = 0; i < (exclusive ? 1 : 2); i++) {
    const fake = createFakeKv({ kv, seed: i + 1 });
    if (!exclusive) fakes.push(fake);
    const own = exclusive ? kv : fake;
    const capacity = exclusive ? {} : { capacity: KV_CONNECT_CAPACITY };
    storages.push(await openTestStorage(own, { exclusive, clock, ...capacity }));
  }
  const sweeps = storages.map((storage) =>
    new RepetitionSweep({ ...storage, leases: new Leases(storage.store) }, [USES, PLAIN])
  );
  try {
    await test({
      kv,
      clock,
      storages,
      sweeps,
      fakes,
      async rows() {
        let count = 0;
        for (const prefix of ["test-use", "test-plain", "repetition"]) {
          count += (await Array.fromAsync(kv.list({ prefix: [prefix] }))).length;
        }
        return count;
      },
    });
  } finally {
    for (const storage of storages) await storage.close();
    kv.close();
  }
}

/** A use with one row beside it. */
async function use({ commits }: TestStorage, name: string): Promise<void> {
  const key = useKey(name);
  await commits.submit((transaction) => {
    const { nowMs: atMs, livedMs } = transaction;
    putBeside(transaction, key, ["answer"], { v: 1 });
    RECORDS.put(transaction, key, { v: 1, atMs, livedMs }, { beside: [["answer"]], held: 1 });
    PLAIN.put(transaction, plainKey(name), { v: 1, atMs, livedMs });
  });
}

const ended = async (kv: Deno.Kv) => (await kv.get<{ ended: number }>(endsKey)).value?.ended ?? 0;
const runAll = (sweeps: readonly RepetitionSweep[]) =>
  Promise.all(sweeps.map((sweep) => sweep.everyMinute()));

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a KV server with two processes";
  Deno.test(`RepetitionSweep ends many uses with all that stands beside them, each once, on ${store}`, () =>
    withSweeps(async ({ kv, clock, storages, sweeps, rows }) => {
      const count = 120;
      for (let i = 0; i < count; i++) await use(storages[i % storages.length]!, `use ${i}`);
      clock.advance(STORED_MS);
      await runAll(sweeps);
      assert.equal(await rows(), 5 * count, "nothing rests on them one ms later");
      clock.advance(1);
      await runAll(sweeps);
      assert.equal(await rows(), 0);
      assert.equal(await ended(kv), count);
      for (const { records } of storages) {
        assert.equal(await records.read(useKey("use 0")), null, "memory follows");
      }
    }, { exclusive }));

  Deno.test(`RepetitionSweep leaves a use that was made anew, until its own end, on ${store}`, () =>
    withSweeps(async ({ kv, clock, storages, sweeps, rows }) => {
      await use(storages[0]!, "one");
      clock.advance(LIFE_MS);
      await use(storages[0]!, "one");
      clock.advance(STORED_MS);
      await runAll(sweeps);
      assert.equal(await rows(), 5);
      assert.equal(await ended(kv), 1);
      clock.advance(1);
      await runAll(sweeps);
      assert.equal(await rows(), 0);
      assert.equal(await ended(kv), 2);
    }, { exclusive }));
}

Deno.test("RepetitionSweep ends each use once over a store that tells falsehoods of its commits", () =>
  withSweeps(async ({ kv, clock, storages, sweeps, fakes, rows }) => {
    const count = 40;
    for (let i = 0; i < count; i++) await use(storages[0]!, `use ${i}`);
    clock.advance(STORED_MS + 1);
    const faults = { deniedSuccess: 0.2, lostAnswer: 0.2, repeated: 0.2 };
    for (const fake of fakes) Object.assign(fake.faults, faults);
    for (let tries = 0; tries < 100 && await rows() > 0; tries++) {
      await Promise.allSettled(sweeps.map((sweep) => sweep.everyMinute()));
      clock.advance(60_000);
    }
    assert.equal(await rows(), 0);
    assert.equal(await ended(kv), count);
    for (const fault of ["deniedSuccess", "lostAnswer", "repeated"] as const) {
      assert.ok(fakes.some(({ faultCounts }) => faultCounts[fault] > 0), fault);
    }
    for (const fake of fakes) {
      Object.assign(fake.faults, { deniedSuccess: 0, lostAnswer: 0, repeated: 0 });
    }
  }));

Deno.test("RepetitionSweep goes by what the store has lived, and rests while the clock is unsure", () =>
  withSweeps(async ({ clock, storages, sweeps, rows }) => {
    const { store } = storages[0]!;
    await use(storages[0]!, "one");
    clock.leap(30 * LIFE_MS);
    assert.equal(store.clock.isSure, false);
    await runAll(sweeps);
    clock.advance(60_000);
    assert.equal(store.clock.isSure, true);
    await runAll(sweeps);
    assert.equal(await rows(), 5, "by the wall clock alone they are old");
    clock.leap(-60 * LIFE_MS);
    assert.equal(store.clock.isSure, true);
    clock.advance(STORED_MS);
    clock.leap(LIFE_MS);
    assert.equal(store.clock.isSure, false);
    await runAll(sweeps);
    assert.equal(await rows(), 5);
    clock.advance(60_000);
    await runAll(sweeps);
    assert.equal(await rows(), 0, "by the wall clock alone they are of the future");
  }, { exclusive: true }));

Deno.test("RepetitionSweep is not held up by a record beside that others change all the time", () =>
  withSweeps(async ({ kv, clock, storages: [storage] }) => {
    const { commits, store } = storage!;
    let rounds = 0;
    const busy: RepetitionKind = {
      name: USES.name,
      extraWrites: {
        plan: USES.extraWrites!.plan,
        records(given) {
          if (++rounds <= 20) {
            void commits.submit((transaction) =>
              transaction.putRecord(endsKey, transaction.record(endsKey) ?? { ended: 0 })
            );
          }
          return USES.extraWrites!.records(given);
        },
      },
    };
    await use(storage!, "one");
    clock.advance(STORED_MS + 1);
    await new RepetitionSweep({ commits, store, leases: new Leases(store) }, [busy]).everyMinute();
    assert.equal(await ended(kv), 1);
    assert.equal(rounds, 1, "what it has prepared is not outdated by it");
  }, { exclusive: true }));

Deno.test("RepetitionSweep ends the uses of the kinds behind one whose look fails each time", () =>
  withSweeps(async ({ kv, clock, storages: [storage] }) => {
    const { commits, store } = storage!;
    const broken: RepetitionKind = {
      name: "test-broken",
      former: () => Promise.reject(new Error("a row that nobody can read")),
    };
    await use(storage!, "one");
    clock.advance(STORED_MS + 1);
    const kinds = [broken, USES];
    const sweep = new RepetitionSweep({ commits, store, leases: new Leases(store) }, kinds);
    await assert.rejects(sweep.everyMinute(), { message: "a row that nobody can read" });
    assert.equal(await ended(kv), 1);
  }, { exclusive: true }));

for (const [what, leapMs] of [["", 0], [", after the clock was set back", -3 * LIFE_MS]] as const) {
  Deno.test(`RepetitionSweep leaves a row that is made anew between its look and its commit${what}`, () =>
    withSweeps(async ({ kv, clock, storages: [storage], rows }) => {
      const { commits, store } = storage!;
      const key = plainKey("one");
      let looks = 0;
      const renew = async () => {
        if (++looks > 1) return;
        const { value: former } = await store.get<Mark>(key);
        await commits.submit((transaction) => {
          const { nowMs: atMs, livedMs } = transaction;
          PLAIN.replace(transaction, key, { v: 1, atMs, livedMs }, former);
        });
      };
      await use(storage!, "one");
      clock.advance(STORED_MS + 1);
      clock.leap(leapMs);
      assert.ok(store.clock.isSure);
      const leases = new Leases(store);
      const kinds = [PLAIN];
      const sweep = new RepetitionSweep({ commits, leases, store: afterRead(store, renew) }, kinds);
      await sweep.everyMinute();
      assert.ok(looks > 0);
      assert.equal((await kv.get<Mark>(key)).value?.livedMs, Math.ceil(store.lived()));
      assert.equal(await rows(), 3 + 2, "with its own row of the index alone");
      clock.advance(STORED_MS + 1);
      await sweep.everyMinute();
      assert.equal(await rows(), 3);
    }, { exclusive: true }));
}
