// Over 300 lines: every way in which two requests under one key can meet.
import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createTestClock, type TestClock } from "../../../tests/support/clock.ts";
import { createFakeKv } from "../../../tests/support/fake_kv.ts";
import { openTestStorage, type TestStorage } from "../../../tests/support/storage.ts";
import { RelayError } from "../errors.ts";
import { recordName } from "../storage/commits/record_cache.ts";
import { defineRecord } from "../storage/commits/record_key.ts";
import { hashScope } from "./idempotency_key.ts";
import { type KeyedCommit, KeyedRequests, type KeyUse, keyUses } from "./keyed_requests.ts";

/** An area that is not there: parcels of an org, each sent once under a key. */
interface Answer {
  status: number;
  body: Uint8Array;
}
const parcelKey = defineRecord<KeyUse, [org: string, scope: string]>(["test-parcel-key"], 2);
const countKey = defineRecord<{ count: number }, [org: string]>(["parcels"], 1);
const ORG = "org";
const KEY = parcelKey(ORG, hashScope("key id", "POST", "/v1/parcels", "k1"));
const encoder = new TextEncoder();

class ParcelProcess {
  readonly #requests: KeyedRequests<Answer>;

  constructor(readonly storage: TestStorage) {
    const { commits, records, store } = storage;
    const inProgress = (retryAfterMs: number) =>
      new RelayError("unavailable", "in progress", { retryAfterMs });
    this.#requests = new KeyedRequests({
      records,
      store,
      uses: keyUses("test-parcel-key"),
      reserve: { commits, inProgress },
    });
  }

  /** Sends a parcel under a key; `before` is what takes long. */
  async send(
    { asked = "asked", sizeBytes = 10, key = KEY, before = () => Promise.resolve() }: {
      asked?: string;
      sizeBytes?: number;
      key?: typeof KEY;
      before?: () => Promise<void>;
    } = {},
  ): Promise<{ replayed: boolean; body: string }> {
    const { replayed, answer } = await this.#requests.once(key, () => asked, async (keyed) => {
      await before();
      return await this.#commit(keyed, sizeBytes);
    });
    return { replayed, body: new TextDecoder().decode(answer.body) };
  }

  #commit(keyed: KeyedCommit<Answer>, sizeBytes: number): Promise<Answer> {
    return this.storage.commits.submit<Answer>((transaction) => {
      keyed.decide(transaction);
      const count = (transaction.record(countKey(ORG))?.count ?? 0) + 1;
      transaction.putRecord(countKey(ORG), { count });
      const body = encoder.encode(`${count} `.padEnd(sizeBytes, "\u00e9"));
      const answer = { status: 202, body };
      keyed.write(transaction, answer);
      return answer;
    });
  }
}

interface World {
  kv: Deno.Kv;
  clock: TestClock;
  /** Two processes on one store. */
  one: ParcelProcess;
  two: ParcelProcess;
  /** One more, which comes where the others have gone. */
  next(): Promise<ParcelProcess>;
  sent(): Promise<number>;
}

async function withParcels(
  test: (world: World) => Promise<void>,
  { exclusive = false } = {},
): Promise<void> {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const open = () => openTestStorage(kv, { exclusive, clock });
  const storages = [await open()];
  storages.push(exclusive ? storages[0]! : await open());
  try {
    await test({
      kv,
      clock,
      one: new ParcelProcess(storages[0]!),
      two: new ParcelProcess(storages[1]!),
      async next() {
        const storage = await open();
        storages.push(storage);
        return new ParcelProcess(storage);
      },
      sent: async () => (await kv.get<{ count: number }>(countKey(ORG))).value?.count ?? 0,
    });
  } finally {
    for (const storage of new Set(storages)) await storage.close();
    kv.close();
  }
}

/** Something that runs until it is told to end. */
function longWork() {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const before = () => {
    begun.resolve();
    return ended.promise;
  };
  return { before, begun: begun.promise, end: () => ended.resolve(), fail: ended.reject };
}

const inProgress = (retryAfterMs: number) => ({ message: "in progress", retryAfterMs });
const REUSED = { code: "idempotency_key_reused" };

Deno.test("KeyedRequests over reservations gives an answer of 32 KiB again byte for byte, for 24 hours", () =>
  withParcels(async ({ clock, one, two, sent }) => {
    const first = await one.send({ sizeBytes: 16_385 });
    assert.equal(first.replayed, false);
    assert.equal(encoder.encode(first.body).length, 32_768);
    for (const process of [one, two]) {
      assert.deepEqual(await process.send(), { replayed: true, body: first.body });
    }
    await assert.rejects(two.send({ asked: "another" }), REUSED);
    clock.advance(86_400_000 - 1);
    assert.equal((await two.send()).replayed, true);
    clock.advance(1);
    assert.equal((await two.send()).replayed, false);
    assert.equal(await sent(), 2);
  }));

Deno.test("KeyedRequests over reservations keeps no answer in memory", () =>
  withParcels(async ({ one }) => {
    await one.send({ sizeBytes: 16_000 });
    const value = one.storage.records.peek(recordName(KEY))!.value as KeyUse;
    const names = ["createdAtMs", "fingerprint", "livedMs", "v"];
    assert.deepEqual(Object.keys(value).sort(), names);
  }));

Deno.test("KeyedRequests over reservations refuses a request while one under its key runs, in any process", () =>
  withParcels(async ({ clock, one, two, sent }) => {
    const work = longWork();
    const running = one.send(work);
    await work.begun;
    clock.advance(1_000);
    for (const process of [one, two]) {
      await assert.rejects(process.send(), inProgress(59_000));
      await assert.rejects(process.send({ asked: "another" }), REUSED);
    }
    const other = parcelKey(ORG, hashScope("key id", "POST", "/v1/parcels", "k2"));
    assert.equal((await two.send({ key: other })).replayed, false);
    work.end();
    assert.equal((await running).replayed, false);
    assert.equal((await two.send()).replayed, true);
    assert.equal(await sent(), 2);
  }));

Deno.test("KeyedRequests over reservations lets one of many begin that come at one moment", () =>
  withParcels(async ({ one, two, sent }) => {
    const work = longWork();
    const requests = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? one : two).send(work));
    const results = Promise.allSettled(requests);
    await work.begun;
    const refused = await Promise.any(
      requests.map((request) => request.then(() => assert.fail("sent"), (error) => error)),
    );
    assert.equal(refused.message, "in progress");
    work.end();
    const kept = (await results).filter(({ status }) => status === "fulfilled");
    const fresh = kept.filter((result) =>
      !(result as PromiseFulfilledResult<{ replayed: boolean }>).value.replayed
    );
    assert.equal(fresh.length, 1);
    assert.equal(await sent(), 1);
  }));

Deno.test("KeyedRequests over reservations gives the key back at once when the work is refused or fails", () =>
  withParcels(async ({ kv, one, two, sent }) => {
    const refuse = () => Promise.reject(new RelayError("not_found", "no such parcel"));
    await assert.rejects(one.send({ before: refuse }), { code: "not_found" });
    assert.equal((await kv.get(KEY)).value, null);
    await assert.rejects(one.send({ sizeBytes: 70_000 }), RangeError);
    assert.equal((await two.send({ asked: "another" })).replayed, false);
    assert.equal(await sent(), 1);
  }));

Deno.test("KeyedRequests over reservations: a reservation is taken over at the end of its lease, and its holder commits no more", () =>
  withParcels(async ({ clock, one, two, sent }) => {
    const lost = longWork();
    const first = one.send(lost);
    await lost.begun;
    clock.advance(59_999);
    await assert.rejects(two.send(), inProgress(1));
    clock.advance(1);
    const taken = longWork();
    const second = two.send(taken);
    await taken.begun;
    // Late while the other runs: refused, and the other keeps its reservation.
    lost.end();
    await assert.rejects(first, inProgress(60_000));
    await assert.rejects(one.send(), inProgress(60_000));
    taken.end();
    assert.equal((await second).replayed, false);
    assert.equal(await sent(), 1);
  }));

Deno.test("KeyedRequests over reservations takes over at once, on an exclusive store, what a process that is gone has reserved", () =>
  withParcels(async ({ one: gone, next, sent }) => {
    const cutOff = longWork();
    void gone.send(cutOff);
    await cutOff.begun;
    const two = await next();
    const long = longWork();
    const running = two.send(long);
    await Promise.race([long.begun, running]);
    // A request of its own holds the key as ever.
    await assert.rejects(two.send(), inProgress(60_000));
    long.end();
    assert.equal((await running).replayed, false);
    assert.equal((await two.send()).replayed, true);
    assert.equal(await sent(), 1);
    // One by a former version, which did not say by whom.
    const former = {
      v: 1,
      attempt: "former",
      fingerprint: "other",
      createdAtMs: two.storage.clock.now(),
      leasedUntilMs: two.storage.clock.now() + 60_000,
    };
    await two.storage.store.commit([], [{ kind: "set", key: KEY, value: former }]);
    two.storage.records.evict(recordName(KEY));
    assert.equal((await two.send()).replayed, false);
  }, { exclusive: true }));

Deno.test("KeyedRequests over reservations: a holder that was overtaken is given the answer of the other", () =>
  withParcels(async ({ clock, one, two, sent }) => {
    const lost = longWork();
    const first = one.send(lost);
    await lost.begun;
    clock.advance(60_000);
    const second = await two.send();
    lost.end();
    assert.deepEqual(await first, { replayed: true, body: second.body });
    assert.equal(await sent(), 1);
  }));

Deno.test("KeyedRequests over reservations: a holder that nobody overtook commits after its lease", () =>
  withParcels(async ({ clock, one, two, sent }) => {
    const slow = longWork();
    const first = one.send(slow);
    await slow.begun;
    clock.advance(3_600_000);
    slow.end();
    assert.equal((await first).replayed, false);
    assert.equal((await two.send()).replayed, true);
    assert.equal(await sent(), 1);
  }));

Deno.test("KeyedRequests over reservations takes over a lease of a clock that had jumped ahead", () =>
  withParcels(async ({ clock, one, two, sent }) => {
    const work = longWork();
    const ahead = one.send(work);
    await work.begun;
    clock.advance(-3_600_000);
    assert.equal((await two.send()).replayed, false);
    work.fail(new Error("died"));
    await assert.rejects(ahead, { message: "died" });
    assert.equal((await two.send()).replayed, true);
    assert.equal(await sent(), 1);
  }));

Deno.test("KeyedRequests over reservations: a leap back ends no lease for the process that holds it", () =>
  withParcels(async ({ clock, one, sent }) => {
    const work = longWork();
    const running = one.send(work);
    await work.begun;
    clock.leap(-9 * 3_600_000);
    clock.advance(1_000);
    await assert.rejects(one.send(), inProgress(59_000));
    work.end();
    assert.equal((await running).replayed, false);
    assert.equal((await one.send()).replayed, true);
    assert.equal(await sent(), 1);
  }));

Deno.test("KeyedRequests over reservations: a leap ahead ends no lease for the process that holds it, and lets none take it over", () =>
  withParcels(async ({ clock, one, two, sent }) => {
    const work = longWork();
    const running = one.send(work);
    await work.begun;
    clock.leap(9 * 3_600_000);
    await assert.rejects(one.send(), inProgress(60_000));
    clock.advance(999.5);
    await assert.rejects(one.send(), inProgress(59_001));
    await assert.rejects(two.send(), inProgress(59_001));
    work.end();
    await assert.rejects(running, { code: "unavailable", message: /clock has leapt ahead/ });
    // It has given the key back, whatever the clock.
    clock.leap(-9 * 3_600_000);
    assert.equal((await two.send()).replayed, false);
    assert.equal(await sent(), 1);
  }));

Deno.test("KeyedRequests over reservations sends once a key over a store that tells falsehoods of its commits", async () => {
  const kv = await openMemoryKv();
  const faults = { deniedSuccess: 0.2, lostAnswer: 0.2, repeated: 0.2 };
  const fake = createFakeKv({ kv, seed: 5 });
  const storage = await openTestStorage(fake, { exclusive: false });
  try {
    const process = new ParcelProcess(storage);
    Object.assign(fake.faults, faults);
    for (let i = 0; i < 40; i++) {
      const key = parcelKey(ORG, hashScope(`k${i}`));
      const bodies = new Set<string>();
      for (let answered = 0; answered < 2;) {
        try {
          bodies.add((await process.send({ key })).body);
          answered++;
        } catch (error) {
          assert.ok(error instanceof RelayError && error.code === "unavailable", String(error));
          storage.clock.advance(60_000);
        }
      }
      assert.equal(bodies.size, 1);
    }
    assert.equal((await kv.get<{ count: number }>(countKey(ORG))).value!.count, 40);
    for (const fault of ["deniedSuccess", "lostAnswer", "repeated"] as const) {
      assert.ok(fake.faultCounts[fault] > 3, fault);
    }
    Object.assign(fake.faults, { deniedSuccess: 0, lostAnswer: 0, repeated: 0 });
    await storage.close();
  } finally {
    kv.close();
  }
});
