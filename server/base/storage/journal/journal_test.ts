// Over 300 lines: every bound and step of the saving, and all that may come between two of them.
import assert from "node:assert/strict";
import {
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
import { delay, settlesWithin } from "../../../../tests/support/pace.ts";
import type { Backend } from "../rows/backend.ts";

const LARGE = "x".repeat(20_000);
const diskFull = () => new TypeError("database or disk is full");

Deno.test("a commit writes one row of the journal, and closing puts what it changed where it belongs", async () => {
  await withJournal(async ({ kv, journal, commits, read, stored }) => {
    await journal.commit([], [set("a", 1), set("b", 1)]);
    await journal.commit([], [set("b", 2), set("c", 2)]);
    assert.deepEqual(commits.map(stepOf), ["commit", "commit"]);
    assert.equal((await journalNumbers(kv)).length, 2);
    assert.equal(await stored("b"), undefined);
    assert.equal(await read("b"), 2);
    const { rows, changes } = journal.size;
    assert.deepEqual({ rows, changes }, { rows: 2, changes: 3 });
    await journal.close();
    assert.deepEqual(await journalNumbers(kv), []);
    assert.deepEqual([await stored("a"), await stored("b"), await stored("c")], [1, 2, 2]);
  });
});

Deno.test("so many rows start the saving, and not fewer", async () => {
  await withJournal(async ({ kv, journal, commits, stored }) => {
    await journal.commit([], [set("a", 1)]);
    await journal.commit([], [set("a", 2)]);
    await delay(20);
    assert.deepEqual(commits.map(stepOf), ["commit", "commit"]);
    await journal.commit([], [set("a", 3)]);
    await until(() => journal.size.rows === 0);
    assert.deepEqual(commits.map(stepOf).slice(2), ["commit", "raise", "save", "deletion"]);
    assert.equal(await stored("a"), 3);
    assert.deepEqual(await journalNumbers(kv), []);
  }, { bounds: { ...NEVER, rows: 3 } });
});

for (const bound of [{ changes: 3 }, { bytes: 1_000 }]) {
  Deno.test(`so many ${Object.keys(bound)} start the saving, and not fewer`, async () => {
    await withJournal(async ({ journal, commits, stored }) => {
      const text = "x".repeat(150); // counted as some 400 bytes
      for (let i = 0; i < 5; i++) await journal.commit([], [set("a", text), set("b", text)]);
      await delay(20);
      assert.deepEqual(new Set(commits.map(stepOf)), new Set(["commit"]));
      await journal.commit([], [set("c", text)]);
      await until(() => journal.size.rows === 0);
      assert.deepEqual([await stored("a"), await stored("c")], [text, text]);
    }, { bounds: { ...NEVER, ...bound } });
  });
}

Deno.test("time alone starts the saving, of what comes after one as of what came before it", async () => {
  await withJournal(async ({ kv, journal, stored }) => {
    for (const value of [1, 2]) {
      await journal.commit([], [set("a", value)]);
      assert.notEqual(await stored("a"), value);
      await until(() => journal.size.rows === 0);
      assert.equal(await stored("a"), value);
    }
    await journal.commit([], [remove("a")]); // with a row that has no change to be saved
    await until(async () => (await journalNumbers(kv)).length === 0);
  }, { bounds: { ...NEVER, afterMs: 40 } });
});

Deno.test("a row that is changed while it is saved stays in the journal, and is saved later", async () => {
  const saves = new Gate();
  await withJournal(async ({ kv, journal, read, stored }) => {
    saves.close();
    await journal.commit([], [set("a", 1), set("b", 1)]);
    await journal.commit([], [set("c", 1)]);
    await saves.reached();
    await journal.commit([], [set("a", 2), remove("b")]);
    saves.open();
    await until(async () => (await journalNumbers(kv)).length === 1);
    assert.deepEqual([await stored("a"), await stored("b")], [1, 1]);
    assert.deepEqual([await read("a"), await read("b")], [2, undefined]);
    assert.equal(journal.size.changes, 2);
    await journal.close();
    assert.deepEqual([await stored("a"), await stored("b")], [2, undefined]);
  }, {
    bounds: { ...NEVER, rows: 2 },
    async intercept(commit, run) {
      if (stepOf(commit) === "save") await saves.pass();
      return await run();
    },
  });
});

Deno.test("rows of the journal go only after what they changed is saved, and never past an open commit", async () => {
  const slow = new Gate();
  await withJournal(async ({ kv, journal, stored }) => {
    await journal.commit([], [set("a", 1)]);
    slow.close();
    const open = journal.commit([], [set("slow", 1)]);
    await slow.reached();
    await journal.commit([], [set("a", 2)]);
    await until(async () => await stored("a") === 2);
    await until(async () => (await journalNumbers(kv)).length === 1);
    await delay(20);
    assert.equal((await journalNumbers(kv)).length, 1);
    slow.open();
    await open;
    assert.equal((await journalNumbers(kv)).length, 2);
    await journal.close();
    assert.deepEqual(await journalNumbers(kv), []);
    assert.equal(await stored("slow"), 1);
  }, {
    bounds: { ...NEVER, rows: 3 },
    async intercept(commit, run) {
      if (commit.writes.some(({ key }) => key[1] === "slow") && stepOf(commit) === "commit") {
        await slow.pass();
      }
      return await run();
    },
  });
});

Deno.test("commits that the store answers at one time are all saved before their rows of the journal go", async () => {
  const answers: { resolve(): void }[] = [];
  const over = (store: Backend): Backend => ({
    get: (key) => store.get(key),
    getMany: (keys) => store.getMany(keys),
    list: (...given) => store.list(...given),
    watch: (keys) => store.watch(keys),
    async commit(checks, writes) {
      const stored = await store.commit(checks, writes);
      if (checks.some(({ key }) => key[0] === "journal")) {
        await new Promise<void>((resolve) => answers.push({ resolve }));
      }
      return stored;
    },
  });
  await withJournal(async ({ kv, journal }) => {
    const commits = ["a", "b", "c"].map((name) => journal.commit([], [set(name, 1)]));
    await until(() => answers.length === 3);
    for (const { resolve } of answers) resolve();
    await Promise.all(commits);
    await until(() => journal.size.rows < 3);
    // What a relay that is killed now has left.
    const next = await openJournal(kv);
    assert.deepEqual(await Promise.all(["a", "b", "c"].map(next.read)), [1, 1, 1]);
  }, { bounds: { ...NEVER, rows: 3 }, over });
});

Deno.test("a step of the saving that fails leaves all rows that it would have needed, and is tried again", async () => {
  for (const failing of ["save", "deletion"] as const) {
    let failures = 0;
    await withJournal(async ({ kv, journal, stored }) => {
      await journal.commit([], [set("a", 1)]);
      await journal.commit([], [set("b", 2)]);
      await until(() => failures === 1);
      assert.equal((await journalNumbers(kv)).length, 2);
      // Without another commit.
      await until(async () => (await journalNumbers(kv)).length === 0);
      assert.deepEqual([await stored("a"), await stored("b")], [1, 2]);
    }, {
      bounds: { ...NEVER, rows: 2, afterMs: 20 },
      intercept(commit, run) {
        if (stepOf(commit) !== failing || failures > 0) return run();
        failures++;
        return Promise.reject(diskFull());
      },
    });
  }
});

Deno.test("a deletion and a value in one commit are taken in their order, also by the next start", async () => {
  for (const ends of ["closed", "killed"]) {
    using kv = await Deno.openKv(":memory:");
    await kv.set(["row", "a"], "before");
    const { journal, read } = await openJournal(kv);
    await journal.commit([], [remove("a"), set("a", 1)]);
    await journal.commit([], [set("b", 1), remove("b")]);
    await journal.commit([], [set("c", LARGE), set("c", 1)]);
    await journal.commit([], [set("d", 1), set("d", LARGE)]);
    const all = async (
      read: (name: string) => Promise<unknown>,
    ) => [await read("a"), await read("b"), await read("c"), await read("d")];
    assert.deepEqual(await all(read), [1, undefined, 1, LARGE]);
    if (ends === "closed") await journal.close();
    const next = await openJournal(kv);
    assert.deepEqual(await all(next.read), [1, undefined, 1, LARGE]);
    await next.journal.close();
    assert.deepEqual(await all(next.stored), [1, undefined, 1, LARGE]);
    await journal.close();
  }
});

Deno.test("rows read together are there when one of them leaves memory meanwhile", async () => {
  const reads = new Map<string, Gate>([["slow", new Gate()], ["b", new Gate()]]);
  await withJournal(async ({ journal }) => {
    await journal.commit([], [set("a", 1)]);
    for (const gate of reads.values()) gate.close();
    const slow = journal.get(["row", "slow"]); // keeps what is saved now
    await reads.get("slow")!.reached();
    await journal.commit([], [set("c", 1)]);
    await until(() => journal.size.rows === 0);
    const both = journal.getMany([["row", "a"], ["row", "b"]]);
    await reads.get("b")!.reached();
    reads.get("slow")!.open();
    await slow;
    reads.get("b")!.open();
    const [a, b] = await both;
    assert.deepEqual([a!.key, a!.value], [["row", "a"], 1]);
    assert.deepEqual([b!.key, b!.value], [["row", "b"], null]);
  }, {
    bounds: { ...NEVER, rows: 2 },
    over: (store) => ({
      ...callsOf(store),
      async get<T>(key: Deno.KvKey) {
        const row = await store.get<T>(key);
        await reads.get(String(key[1]))?.pass();
        return row;
      },
    }),
  });
});

/** The calls of a store, of which a test replaces some. */
function callsOf(store: Backend): Backend {
  return {
    get: <T>(key: Deno.KvKey) => store.get<T>(key),
    getMany: <T>(keys: readonly Deno.KvKey[]) => store.getMany<T>(keys),
    list: <T>(selector: Deno.KvListSelector, limit: number, reverse: boolean) =>
      store.list<T>(selector, limit, reverse),
    watch: (keys: readonly Deno.KvKey[]) => store.watch(keys),
    commit: (checks, writes) => store.commit(checks, writes),
  };
}

Deno.test("a read sees all of a commit or nothing, also where the store has it before memory", async () => {
  const answers = new Gate();
  await withJournal(async ({ journal }) => {
    await journal.commit([], [set("a", 1), set("z", 1)]);
    await until(() => journal.size.rows === 0);
    answers.close();
    // "a" stands in the journal then, "b" and "z" where they belong.
    const commit = journal.commit([], [set("a", 2), set("b", LARGE), remove("z")]);
    await answers.reached();
    const listed = journal.list<unknown>({ prefix: ["row"] }, 10, false);
    const many = journal.getMany([["row", "a"], ["row", "b"], ["row", "z"]]);
    const other = journal.list({ prefix: ["other"] }, 10, false);
    assert.deepEqual(await other, []); // does not wait
    await delay(5);
    answers.open();
    await commit;
    const seen = (rows: readonly Deno.KvEntryMaybe<unknown>[]) =>
      rows.filter(({ versionstamp }) => versionstamp !== null).map(({ key, value }) =>
        `${key[1] as string} ${String(value).length > 9 ? "large" : value}`
      );
    const before = ["a 1", "z 1"];
    const after = ["a 2", "b large"];
    for (const rows of [await listed, await many]) {
      assert.ok([`${before}`, `${after}`].includes(`${seen(rows)}`), `${seen(rows)}`);
    }
  }, {
    bounds: { ...NEVER, rows: 1 },
    async intercept(commit, run) {
      const outcome = await run();
      if (stepOf(commit) === "commit") await answers.pass();
      return outcome;
    },
  });
});

Deno.test("bytes out of a larger buffer are kept alone, and come back as plain bytes", async () => {
  using kv = await Deno.openKv(":memory:");
  const { journal } = await openJournal(kv);
  const large = new Uint8Array(200_000).fill(7);
  await journal.commit([], [set("a", large.subarray(10, 20)), set("b", Buffer.from("text"))]);
  for (const from of [journal, (await openJournal(kv)).journal]) {
    const { value } = await from.get<Uint8Array>(["row", "a"]);
    assert.deepEqual(value, new Uint8Array(10).fill(7));
    assert.equal(value!.buffer.byteLength, 10);
    assert.deepEqual((await from.get(["row", "b"])).value, new TextEncoder().encode("text"));
  }
});

Deno.test("null and undefined are values, which no absent row has", async () => {
  using kv = await Deno.openKv(":memory:");
  const first = await openJournal(kv);
  await first.journal.commit([], [set("null", null), set("undefined", undefined)]);
  const second = await openJournal(kv);
  const rowsOf = async (kv: Pick<Backend, "list">) =>
    (await kv.list({ prefix: ["row"] }, 9, false)).map(({ key, value }) => [key[1], value]);
  const expected = [["null", null], ["undefined", undefined]];
  assert.deepEqual(await rowsOf(first.journal), expected);
  assert.deepEqual(await rowsOf(second.journal), expected);
  assert.notEqual((await second.journal.get(["row", "null"])).versionstamp, null);
  await second.journal.close();
  const stored = await Array.fromAsync(kv.list({ prefix: ["row"] }));
  assert.deepEqual(stored.map(({ key, value }) => [key[1], value]), expected);
  await first.journal.close();
});

Deno.test("what the store refuses is refused when it is committed, and keeps nothing from being saved", async () => {
  await withJournal(async ({ kv, journal, stored }) => {
    const key = (...parts: unknown[]) => parts as Deno.KvKey;
    const writes = [
      { kind: "set", key: key(), value: 1 },
      { kind: "set", key: key("k".repeat(3_000)), value: 1 },
      { kind: "set", key: key("row", undefined), value: 1 },
      { kind: "delete", key: key("row", Symbol("a")) },
      { kind: "set", key: key("row", "a"), value: 1, expireInMs: 1.5 },
      { kind: "set", key: key("row", "a"), value: 1, expireInMs: -1 },
      { kind: "set", key: key("row", "a"), value: 1, expireInMs: NaN },
      { kind: "set", key: key("row", "a"), value: 1, expireInMs: 1e300 },
      { kind: "set", key: key("row", "a"), value: () => 1 },
      { kind: "set", key: key("row", "a"), value: "x".repeat(70_000) },
    ] as const;
    for (const write of writes) {
      await assert.rejects(
        journal.commit([], [set("b", 0), write]),
        (error) => error instanceof Error,
      );
    }
    await assert.rejects(journal.get(key("row", undefined)), TypeError);
    await journal.commit([], [set("b", 1)]);
    await journal.close();
    assert.deepEqual(await journalNumbers(kv), []);
    assert.equal(await stored("b"), 1);
  });
});

Deno.test("counters and their sums are as in the store", async () => {
  using kv = await Deno.openKv(":memory:");
  const { journal, read } = await openJournal(kv);
  const sum = (amount: bigint) => ({ kind: "sum", key: ["row", "n"], amount }) as const;
  await journal.commit([], [set("n", new Deno.KvU64(3n))]);
  await journal.commit([], [sum(2n), set("a", 1)]);
  const next = await openJournal(kv);
  assert.deepEqual(await next.read("n"), new Deno.KvU64(5n));
  assert.deepEqual(await read("n"), new Deno.KvU64(5n));
  await next.journal.commit([], [remove("n")]);
  await next.journal.commit([], [sum(1n)]);
  assert.deepEqual(await next.read("n"), new Deno.KvU64(1n));
  await next.journal.close();
  await journal.close();
});

Deno.test("a journal that is full holds commits back until there is room", async () => {
  for (const bound of [{ rows: 2 }, { changes: 2 }, { bytes: 200 }]) {
    const saves = new Gate();
    await withJournal(async ({ journal, stored }) => {
      saves.close();
      let late = Promise.resolve<string | null>("");
      let at = 0;
      do {
        await late;
        late = journal.commit([], [set(`t${++at}`, at)]);
        assert.ok(at <= 20);
      } while (await settlesWithin(late, 30));
      assert.equal(await stored(`t${at}`), undefined);
      assert.equal((await journal.get(["row", `t${at}`])).versionstamp, null);
      saves.open();
      assert.notEqual(await late, null);
      assert.equal(await stored("t1"), 1);
    }, {
      bounds: { ...NEVER, ...bound },
      async intercept(commit, run) {
        if (stepOf(commit) === "save") await saves.pass();
        return await run();
      },
    });
  }
});

Deno.test("a full journal on a full disk refuses commits after a while, and takes them again when there is room", async () => {
  let full = true;
  await withJournal(async ({ journal, stored }) => {
    for (let i = 0; i < 3; i++) await journal.commit([], [set(`t${i}`, i)]);
    await assert.rejects(journal.commit([], [set("late", 1)]), { code: "unavailable" });
    full = false;
    await journal.commit([], [set("late", 2)]);
    await journal.close();
    assert.deepEqual([await stored("t0"), await stored("late")], [0, 2]);
  }, {
    bounds: { ...NEVER, rows: 1, roomMs: 100 },
    intercept: (commit, run) =>
      full && stepOf(commit) === "save" ? Promise.reject(diskFull()) : run(),
  });
});

Deno.test("a value too large for the journal waits until the one before it is saved", async () => {
  const huge = "x".repeat(64_000);
  await withJournal(async ({ journal, stored, read }) => {
    await journal.commit([], [set("a", 1)]);
    await journal.commit([], [set("a", huge)]);
    assert.equal(await stored("a"), huge);
    assert.equal(await read("a"), huge);
    await journal.commit([], [set("a", 2)]);
    await journal.close();
    assert.equal(await stored("a"), 2);
    await journal.commit([], [set("a", 3)]);
    // Nothing is saved any more.
    await assert.rejects(journal.commit([], [set("a", huge)]), { code: "unavailable" });
    assert.equal(await read("a"), 3);
  });
});

Deno.test("closing on a store that takes no write leaves the journal to the next start", async () => {
  using kv = await Deno.openKv(":memory:");
  let full = false;
  const { journal } = await openJournal(kv, {
    intercept: (_, run) => full ? Promise.reject(diskFull()) : run(),
  });
  await journal.commit([], [set("a", 1)]);
  full = true;
  await journal.close();
  assert.equal((await journalNumbers(kv)).length, 1);
  const later = await openJournal(kv);
  assert.equal(later.journal.replayed, 1);
  assert.equal(await later.read("a"), 1);
  await later.journal.close();
  assert.equal(await later.stored("a"), 1);
  assert.deepEqual(await journalNumbers(kv), []);
});

Deno.test("closing ends in time on a store that is silent, with a commit and a save under way", async () => {
  const silence = new Gate();
  await withJournal(async ({ journal }) => {
    await journal.commit([], [set("a", 1)]);
    silence.close();
    const open = journal.commit([], [set("b", 1)]);
    await silence.reached();
    const beganMs = performance.now();
    await journal.close();
    assert.ok(performance.now() - beganMs < 3_000);
    silence.open();
    await open;
  }, {
    async intercept(_, run) {
      await silence.pass();
      return await run();
    },
  });
});

Deno.test("reads that the store does not answer do not keep all that is saved meanwhile", async () => {
  const answers = new Gate();
  let asked = 0;
  await withJournal(async ({ journal }) => {
    answers.close();
    const hanging = journal.list<number>({ prefix: ["row"] }, 5, false);
    await answers.reached();
    const text = "x".repeat(30_000); // counted twice
    for (let i = 0; i < 600; i++) await journal.commit([], [set("large", `${i}${text}`)]);
    for (let i = 0; i < 600; i++) await journal.commit([], [remove("large")]);
    await journal.commit([], [set("z", 1)]);
    await until(() => journal.size.rows === 0);
    answers.open();
    assert.deepEqual((await hanging).map(({ key }) => key[1]), ["z"]);
    assert.equal(asked, 2);
  }, {
    bounds: { ...NEVER, rows: 10, afterMs: 5 },
    over: (store) => ({
      ...callsOf(store),
      async list<T>(selector: Deno.KvListSelector, limit: number, reverse: boolean) {
        const rows = await store.list<T>(selector, limit, reverse);
        if (`${(selector as { prefix: Deno.KvKey }).prefix}` !== "row") return rows;
        asked++;
        await answers.pass();
        return rows;
      },
    }),
  });
});
