import { KvBackend } from "../deno_kv/kv_backend.ts";
import assert from "node:assert/strict";
import { createTestClock, type TestClock } from "../../../../tests/support/clock.ts";
import { storeOn } from "../../../../tests/support/store_on.ts";
import { storeTimes } from "../../../../tests/support/storage.ts";
import { Leases } from "./leases.ts";
import { createStore, EMBEDDED_CAPACITY, type Store } from "../rows/store.ts";

const LENGTH_MS = 60_000;

async function withStore(
  exclusive: boolean,
  test: (
    store: Store,
    advance: (ms: number) => void,
    clock: TestClock,
    kv: Deno.Kv,
  ) => Promise<void>,
): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  const clock = createTestClock();
  try {
    const store = createStore({
      backend: new KvBackend(kv),
      exclusive,
      capacity: EMBEDDED_CAPACITY,
      ...storeTimes(clock),
      random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    });
    await test(store, clock.advance, clock, kv);
  } finally {
    kv.close();
  }
}

Deno.test("Leases.take() gives a lease to one of two processes that ask together", () =>
  withStore(false, async (store) => {
    const taken = await Promise.all(
      Array.from({ length: 8 }, () => new Leases(store).take("sweep", LENGTH_MS)),
    );
    assert.equal(taken.filter((lease) => lease !== null).length, 1);
  }));

Deno.test("Leases.take() gives a released lease to the next", () =>
  withStore(false, async (store) => {
    const lease = await new Leases(store).take("sweep", LENGTH_MS);
    await lease!.release();
    assert.notEqual(await new Leases(store).take("sweep", LENGTH_MS), null);
  }));

Deno.test("Leases.take() takes a lease over after its end and the hosts' clock difference", () =>
  withStore(false, async (store, advance) => {
    const lease = await new Leases(store).take("sweep", LENGTH_MS);
    advance(LENGTH_MS + 4_999);
    assert.equal(await new Leases(store).take("sweep", LENGTH_MS), null);
    advance(1);
    assert.notEqual(await new Leases(store).take("sweep", LENGTH_MS), null);
    assert.equal(await lease!.keep(), false);
  }));

Deno.test("WorkLease.keep() makes it last its length again, and release() leaves a successor's alone", () =>
  withStore(false, async (store, advance) => {
    const lease = await new Leases(store).take("sweep", LENGTH_MS);
    advance(50_000);
    assert.equal(await lease!.keep(), true);
    advance(50_000);
    assert.equal(await new Leases(store).take("sweep", LENGTH_MS), null);
    advance(LENGTH_MS);
    const successor = await new Leases(store).take("sweep", LENGTH_MS);
    await lease!.release();
    assert.equal(await successor!.keep(), true);
  }));

Deno.test("WorkLease.keep() writes once a third of the length has passed, by either clock", () =>
  withStore(false, async (store, advance, clock) => {
    const lease = await new Leases(store).take("sweep", LENGTH_MS);
    const versionOf = async () => (await store.get(["lease", "sweep"])).versionstamp;
    const keepsAsItIs = async () => {
      const before = await versionOf();
      assert.ok(await lease!.keep());
      return await versionOf() === before;
    };
    advance(LENGTH_MS / 3 - 1);
    assert.equal(await keepsAsItIs(), true);
    advance(1);
    assert.equal(await keepsAsItIs(), false);
    assert.equal(await keepsAsItIs(), true, "it lasts its whole length again");
    clock.leap(-LENGTH_MS);
    assert.equal(await keepsAsItIs(), false);
  }));

Deno.test("Leases.take() takes no notice of former processes on an exclusive store, only of its own", () =>
  withStore(true, async (store) => {
    const key = ["lease", "sweep"];
    const former = { v: 1, process: "former", turn: 3, untilMs: store.now() + LENGTH_MS };
    await store.transact((transaction) => transaction.set(key, former));
    const leases = new Leases(store);
    const lease = await leases.take("sweep", LENGTH_MS);
    assert.equal(await leases.take("sweep", LENGTH_MS), null);
    assert.ok(await lease!.keep());
    await lease!.release();
    assert.notEqual(await leases.take("sweep", LENGTH_MS), null);
    assert.deepEqual((await store.get(key)).value, former, "nothing is written");
  }));

Deno.test("Leases.take() heeds and writes rows as former versions on a shared store do", () =>
  withStore(false, async (store, advance) => {
    const key = ["lease", "sweep"];
    const untilMs = store.now() + LENGTH_MS;
    await store.transact((transaction) =>
      transaction.set(key, { v: 1, process: "former", turn: 3, untilMs })
    );
    assert.equal(await new Leases(store).take("sweep", LENGTH_MS), null);
    advance(LENGTH_MS + 5_000);
    await new Leases(store).take("sweep", LENGTH_MS);
    const { process, ...row } = (await store.get<{ process: string }>(key)).value!;
    assert.match(process, /^[0-9a-f]{24}$/);
    assert.deepEqual(row, { v: 1, turn: 0, untilMs: store.now() + LENGTH_MS });
  }));

Deno.test("Leases.take() ignores a lease that ends further ahead than its length and the hosts' clock difference", () =>
  withStore(false, async (store, _advance, clock) => {
    await new Leases(store).take("sweep", LENGTH_MS);
    clock.leap(-5_000);
    assert.equal(await new Leases(store).take("sweep", LENGTH_MS), null);
    clock.leap(-1);
    assert.notEqual(await new Leases(store).take("sweep", LENGTH_MS), null);
  }));

for (const act of ["taking", "giving back"]) {
  Deno.test(`Leases.take() frees a lease of its own whose ${act} got no answer, nobody else's`, () =>
    withStore(false, async (store, _advance, _clock, kv) => {
      let isDead = false;
      const requireAlive = () => {
        if (isDead) throw new TypeError("connection reset");
      };
      /** A server that dies after a commit, or before it when that gives the lease back. */
      const deaf = {
        async getMany(keys: Deno.KvKey[]) {
          requireAlive();
          return await kv.getMany(keys);
        },
        async get(key: Deno.KvKey) {
          requireAlive();
          return await kv.get(key);
        },
        atomic() {
          const operation = kv.atomic();
          let deletes = false;
          const { commit, delete: remove } = operation;
          operation.delete = (key) => {
            deletes = true;
            return remove.call(operation, key);
          };
          operation.commit = async () => {
            isDead = diesNow(deletes);
            if (deletes) requireAlive();
            const outcome = await commit.call(operation);
            requireAlive();
            return outcome;
          };
          return operation;
        },
      } as unknown as Deno.Kv;
      let diesNow = (deletes: boolean) => deletes === (act === "giving back");
      const leases = new Leases(storeOn(deaf, { exclusive: false, now: store.now }));
      const lost = async () => await (await leases.take("sweep", LENGTH_MS))!.release();
      await assert.rejects(lost, /connection reset/);
      diesNow = () => false;
      isDead = false;
      assert.equal(await new Leases(store).take("sweep", LENGTH_MS), null);
      const again = await leases.take("sweep", LENGTH_MS);
      assert.notEqual(again, null);
      assert.equal(await leases.take("sweep", LENGTH_MS), null);
    }));
}
