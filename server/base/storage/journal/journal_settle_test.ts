/** What becomes of commits of which the store does not say whether it has them. */
import assert from "node:assert/strict";
import { countJob, withControlledCommits } from "../../../../tests/support/controlled_commits.ts";
import {
  type ControlledOptions,
  Gate,
  journalNumbers,
  NEVER,
  openJournal,
  remove,
  set,
  stepOf,
  until,
  withJournal,
} from "../../../../tests/support/journal.ts";
import { settlesWithin } from "../../../../tests/support/pace.ts";
import { mailboxKey, openTestStorage } from "../../../../tests/support/storage.ts";
import { type CommitOutcome, createFakeKv } from "../../../../tests/support/fake_kv.ts";
import type { Backend } from "../rows/backend.ts";
import type { JournalRow } from "./journal_row.ts";

/** What the store may do to one commit. */
type Fault = (run: () => Promise<CommitOutcome>) => Promise<CommitOutcome>;
const lost = () => new TypeError("error sending request");
const LOST: Fault = async (run) => {
  await run();
  throw lost();
};
const DENIED: Fault = async (run) => {
  await run();
  return { ok: false };
};
const REFUSED: Fault = () => Promise.reject(lost());

for (const [name, fault] of Object.entries({ "was lost": LOST, "denies it": DENIED })) {
  Deno.test(`a commit whose answer ${name} is known by its row`, async () => {
    let faults = 1;
    await withJournal(async ({ journal, read, stored, commits }) => {
      assert.notEqual(await journal.commit([], [set("a", 1), remove("b")]), null);
      assert.equal(commits.filter((commit) => stepOf(commit) === "commit").length, 1);
      assert.equal(await read("a"), 1);
      await journal.close();
      assert.equal(await stored("a"), 1);
    }, {
      intercept: (commit, run) => stepOf(commit) === "commit" && faults-- > 0 ? fault(run) : run(),
    });
  });
}

Deno.test("a job whose commit was lost is not tried again", async () => {
  let losses = 1;
  await withControlledCommits(async ({ storage }) => {
    assert.equal(await storage.commits.submit(countJob("a")), 1);
    assert.equal(storage.commits.counts.groups, 1);
    assert.equal(storage.commits.counts.conflicts, 0);
  }, {
    intercept: (commit, run) =>
      commit.writes.some(({ key }) => key[0] === "box") && losses-- > 0 ? LOST(run) : run(),
  });
});

Deno.test("a commit that was not stored uses its number up, and says so", async () => {
  let faults = 1;
  await withJournal(async ({ kv, journal, read, stored }) => {
    await assert.rejects(journal.commit([], [set("a", 1)]), { code: "unavailable" });
    assert.equal(await read("a"), undefined);
    await journal.commit([], [set("a", 2)]);
    const rows = await Array.fromAsync(kv.list<JournalRow>({ prefix: ["journal"] }));
    assert.deepEqual(rows.map(({ value }) => value.by === null), [true, false]);
    await journal.close();
    assert.equal(await stored("a"), 2);
    assert.deepEqual(await journalNumbers(kv), []);
  }, {
    intercept: (commit, run) => stepOf(commit) === "commit" && faults-- > 0 ? REFUSED(run) : run(),
  });
});

Deno.test("a commit that comes to the store late is not stored, also when all was saved by then", async () => {
  for (const bounds of [NEVER, { ...NEVER, rows: 2, afterMs: 5 }]) {
    let late: (() => Promise<CommitOutcome>) | undefined;
    await withJournal(async ({ kv, journal, stored }) => {
      const large = set("b", "x".repeat(20_000));
      await assert.rejects(journal.commit([], [set("a", 1), large, remove("c")]));
      for (let i = 2; i < 6; i++) await journal.commit([], [set("a", i), set("c", i)]);
      if (bounds !== NEVER) await until(async () => (await journalNumbers(kv)).length === 1);
      assert.deepEqual(await late!(), { ok: false });
      await journal.close();
      assert.deepEqual([await stored("a"), await stored("b"), await stored("c")], [
        5,
        undefined,
        5,
      ]);
      assert.deepEqual(await journalNumbers(kv), []);
    }, {
      bounds,
      intercept(commit, run) {
        if (stepOf(commit) !== "commit" || late !== undefined) return run();
        late = run;
        return REFUSED(run);
      },
    });
  }
});

Deno.test("a number whose own using up is lost, or has no room on the disk, is settled as well", async () => {
  for (const fault of [LOST, REFUSED]) {
    let faults = 2;
    await withJournal(async ({ journal, stored }) => {
      await assert.rejects(journal.commit([], [set("a", 1)]));
      assert.equal(faults, 0);
      await journal.commit([], [set("a", 2)]);
      await journal.close();
      assert.equal(await stored("a"), 2);
    }, {
      intercept(commit, run) {
        const step = stepOf(commit);
        if (step === "commit" && faults === 2) return faults--, REFUSED(run);
        return step === "use up" && faults === 1 ? (faults--, fault(run)) : run();
      },
    });
  }
});

for (const isStored of [true, false]) {
  const name = isStored ? "was stored" : "was not stored";

  /** A journal over a store that tells nothing of a commit until the silence ends. */
  const silent = () => {
    const silence = { begins: false, isSilent: false };
    const over = (store: Backend) => ({
      get: <T>(key: Deno.KvKey) =>
        silence.isSilent && key[0] === "journal" ? Promise.reject(lost()) : store.get<T>(key),
      getMany: <T>(keys: readonly Deno.KvKey[]) => store.getMany<T>(keys),
      list: <T>(selector: Deno.KvListSelector, limit: number, reverse: boolean) =>
        store.list<T>(selector, limit, reverse),
      watch: (keys: readonly Deno.KvKey[]) => store.watch(keys),
      commit: store.commit.bind(store),
    });
    const options: ControlledOptions = {
      over,
      bounds: { ...NEVER, rows: 4 },
      async intercept(commit, run) {
        if (silence.begins && stepOf(commit) === "commit") {
          Object.assign(silence, { begins: false, isSilent: true });
          if (isStored) await run();
          throw lost();
        }
        if (silence.isSilent && stepOf(commit) === "use up") throw lost();
        return await run();
      },
    };
    return { silence, options };
  };

  Deno.test(`a commit of which the store tells nothing holds its rows until it tells that it ${name}`, async () => {
    const { silence, options } = silent();
    await withJournal(async ({ kv, journal, read, stored }) => {
      await journal.commit([], [set("a", 1), set("b", 1)]);
      silence.begins = true;
      const unclear = journal.commit([], [set("a", 2), remove("gone")]).catch(() => null);
      const next = journal.commit([], [set("a", 3)]);
      const checking = journal.commit([{ key: ["row", "gone"], versionstamp: null }], [
        set("c", 1),
      ]);
      // What belongs to other rows goes on.
      for (let i = 0; i < 8; i++) await journal.commit([], [set("b", i)]);
      assert.equal(await read("a"), 1);
      assert.ok(!await settlesWithin(Promise.any([next, checking]), 60));
      await until(async () => await stored("a") === 1);
      silence.isSilent = false;
      assert.equal(await unclear === null, !isStored);
      await next;
      await checking;
      assert.equal(await read("a"), 3);
      await journal.close();
      assert.deepEqual([await stored("a"), await stored("b"), await stored("c")], [3, 7, 1]);
      assert.deepEqual(await journalNumbers(kv), []);
    }, options);
  });

  Deno.test(`a relay that ends before the store tells leaves to the next what ${name}`, async () => {
    using kv = await Deno.openKv(":memory:");
    const { silence, options } = silent();
    const { journal } = await openJournal(kv, options);
    await journal.commit([], [set("a", 1), set("b", 1)]);
    silence.begins = true;
    const unclear = journal.commit([], [set("a", 2)]);
    const refused = assert.rejects(unclear, { code: "unavailable" });
    await journal.commit([], [set("b", 3)]);
    await journal.close();
    await refused;
    const next = await openJournal(kv);
    assert.deepEqual([await next.read("a"), await next.read("b")], [isStored ? 2 : 1, 3]);
    await next.journal.close();
    assert.equal(await next.stored("a"), isStored ? 2 : 1);
    assert.deepEqual(await journalNumbers(kv), []);
  });
}

Deno.test("a row of another process under the number is none of its own", async () => {
  using kv = await Deno.openKv(":memory:");
  const { journal, read } = await openJournal(kv, { now: () => 1 });
  const number = 1_000;
  const row: JournalRow = { v: 2, by: "another", changes: [] };
  await kv.set(["journal", number], row);
  assert.equal(await journal.commit([], [set("a", 1)]), null);
  assert.equal(await read("a"), undefined);
  await journal.close();
});

Deno.test("a full journal that an open commit keeps full lets everything else of the process run", async () => {
  const first = new Gate();
  await withJournal(async ({ journal, stored }) => {
    first.close();
    const open = journal.commit([], [set("slow", 1)]);
    await first.reached();
    for (let i = 2; i <= 6; i++) await journal.commit([], [set("a", i)]);
    const late = journal.commit([], [set("a", 7)]);
    assert.ok(!await settlesWithin(late, 50)); // a timer runs meanwhile
    first.open();
    assert.ok((await Promise.all([open, late])).every((versionstamp) => versionstamp !== null));
    await until(async () => await stored("a") === 7);
  }, {
    bounds: { ...NEVER, rows: 2, afterMs: 20 },
    async intercept(commit, run) {
      if (commit.writes.some(({ key }) => key[1] === "slow")) await first.pass();
      return await run();
    },
  });
});

Deno.test("a relay ends while the disk is full and its journal too, and the next start has all that was acknowledged", async () => {
  using kv = await Deno.openKv(":memory:");
  let full = true;
  const fake = createFakeKv({
    kv,
    maxChecks: 100,
    intercept: (commit, run) =>
      full && ["raise", "save"].includes(stepOf(commit))
        ? Promise.reject(new TypeError("database or disk is full"))
        : run(),
  });
  const storage = await openTestStorage(fake, {
    journalBounds: { ...NEVER, rows: 1, roomMs: 100 },
  });
  let acknowledged = 0;
  const last = async () => {
    for (;;) {
      await storage.commits.submit(countJob("a")).then((count) => void (acknowledged = count));
    }
  };
  await assert.rejects(last(), { code: "unavailable" });
  await storage.close();
  full = false;
  const next = await openTestStorage(kv);
  const box = await next.records.read<{ head: number }>(mailboxKey("a"));
  assert.ok(acknowledged > 0);
  assert.equal(box!.head, acknowledged);
  await next.close();
});
