/** That what a commit holds fits the journal's rows and commits, whatever it is made of. */
import assert from "node:assert/strict";
import {
  journalNumbers,
  NEVER,
  openJournal,
  set,
  stepOf,
  withJournal,
} from "../../../../tests/support/journal.ts";
import { openTestStorage } from "../../../../tests/support/storage.ts";
import type { Write } from "../rows/backend.ts";
import { EMBEDDED_CAPACITY } from "../rows/store.ts";
import { valueSizeBytes } from "../rows/stored_size.ts";
import { journalSizeBytes } from "./journal_row.ts";

Deno.test("a commit of more than a row takes has several, and the next start reads all of them", async () => {
  using kv = await Deno.openKv(":memory:");
  const { journal } = await openJournal(kv);
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const text = "x".repeat(8_000);
  await journal.commit([], names.map((name) => set(name, `${name}${text}`)));
  assert.equal((await journalNumbers(kv)).length, 2);
  await journal.commit([], [set("a", "last")]);
  const next = await openJournal(kv);
  assert.equal(await next.read("a"), "last");
  assert.equal(await next.read("g"), `g${text}`);
  await next.journal.close();
  assert.equal(await next.stored("f"), `f${text}`);
  assert.deepEqual(await journalNumbers(kv), []);
});

Deno.test("values of every size up to what Deno KV takes are stored, once unsaved and once saved", async () => {
  await withJournal(async ({ journal, read, stored }) => {
    const sizes = [0, 16_000, 17_000, 64_000, 64_800, 64_900, 65_000, 65_530, 65_536];
    assert.equal(sizes.length, 9);
    for (const size of sizes) {
      const value = new Uint8Array(size).fill(1);
      await journal.commit([], [set("saved", value)]);
      await journal.commit([], [set("unsaved", 1)]);
      await journal.commit([], [set("unsaved", value)]);
      assert.deepEqual(await read("unsaved"), value);
      assert.deepEqual(await read("saved"), value);
    }
    await assert.rejects(journal.commit([], [set("b", new Uint8Array(65_537))]), TypeError);
    await journal.close();
    assert.deepEqual(await stored("unsaved"), new Uint8Array(65_536).fill(1));
  });
});

Deno.test("rows are saved that together are larger than a commit, or more than it takes", async () => {
  await withJournal(async ({ kv, journal, commits, stored }) => {
    const names = Array.from({ length: 700 }, (_, i) => `t${i}`);
    for (const name of names) {
      await journal.commit([], [set(name, name), set(`${name} large`, name.padEnd(3_000))]);
    }
    const long: Deno.KvKey = ["row", "k".repeat(2_000)];
    for (let i = 0; i < 40; i++) {
      await journal.commit([], [{ kind: "set", key: [...long, i], value: i }]);
    }
    const from = commits.length;
    await journal.close();
    const steps = commits.slice(from).map(stepOf);
    const saves = steps.lastIndexOf("save");
    assert.equal(steps[0], "raise");
    assert.deepEqual(new Set(steps.slice(1, saves + 1)), new Set(["save"]));
    assert.deepEqual(steps.slice(saves + 1), ["deletion", "deletion"]);
    assert.deepEqual(await journalNumbers(kv), []);
    assert.deepEqual([await stored("t0"), await stored("t699")], ["t0", "t699"]);
    assert.equal((await kv.get([...long, 39])).value, 39);
  });
});

const numbers = (length: number, i: number): Deno.KvKey =>
  Array.from({ length }, (_, part) => 1 / (1 + part + i));

for (
  const [name, write] of Object.entries<(i: number) => Write>({
    "small values": (i) => ({ kind: "set", key: [i], value: i }),
    "bytes under short keys": (i) => ({ kind: "set", key: [i], value: new Uint8Array(830) }),
    "bytes under keys of numbers": (i) => ({
      kind: "set",
      key: numbers(7, i),
      value: new Uint8Array(840),
    }),
    "bytes under keys of texts": (i) => ({
      kind: "set",
      key: ["message", `${i}`.padStart(20, "€")],
      value: new Uint8Array(840),
    }),
    "large bytes": (i) => ({ kind: "set", key: ["piece", i], value: new Uint8Array(65_000) }),
    "bytes that just are not in the journal": (i) => ({
      kind: "set",
      key: numbers(100, i),
      value: new Uint8Array(17_000),
    }),
    "bytes of which one fits a row of the journal": (i) => ({
      kind: "set",
      key: [i],
      value: new Uint8Array(i % 2 === 0 ? 16_000 : 40),
    }),
    "deletions": (i) => ({ kind: "delete", key: ["message", i, "inbox"] }),
    "deletions of long keys": (i) => ({ kind: "delete", key: numbers(7, i) }),
    "large bytes beside deletions": (i) =>
      i % 90 === 0
        ? { kind: "set", key: ["piece", i], value: new Uint8Array(65_000) }
        : { kind: "delete", key: numbers(4, i) },
    "objects of one-letter members": (i) => ({
      kind: "set",
      key: [i],
      value: Object.fromEntries(Array.from({ length: 40 }, (_, j) => [`m${j}`, 0.1])),
    }),
  })
) {
  Deno.test(`a group that fits its bounds fits the store with its rows of the journal: ${name}`, async () => {
    using kv = await Deno.openKv(":memory:");
    const storage = await openTestStorage(kv, { journalBounds: NEVER });
    const { commits } = storage;
    for (let round = 0; round < 2; round++) { // and what is unsaved once more
      const jobs: Promise<void>[] = [];
      for (let i = 0, bytes = 0; i < 2_000 && bytes < 2 * EMBEDDED_CAPACITY.bytes; i++) {
        const one = write(i);
        bytes += one.kind === "set" ? valueSizeBytes(one.value) : 0;
        jobs.push(commits.submit((transaction) => {
          if (one.kind === "set") transaction.set(one.key, one.value);
          else transaction.delete(one.key);
        }));
      }
      await Promise.all(jobs);
      assert.ok(commits.counts.groups < jobs.length / 3, "they were full");
      assert.equal(commits.counts.conflicts, 0);
    }
    await storage.close();
  });
}

Deno.test("a commit has room for as many checks and changes as the store's capacity says", async () => {
  await withJournal(async ({ journal }) => {
    const { checks, mutations } = EMBEDDED_CAPACITY;
    const absent = Array.from(
      { length: checks },
      (_, i) => ({ key: ["absent", i], versionstamp: null }),
    );
    const deletions = Array.from(
      { length: mutations },
      (_, i): Write => ({ kind: "delete", key: ["gone", i] }),
    );
    assert.notEqual(await journal.commit(absent, deletions), null);
    await journal.commit([], [{ kind: "set", key: ["absent", checks - 1], value: 1 }]);
    assert.equal(await journal.commit(absent, deletions), null);
  });
});

Deno.test("journalSizeBytes() is above what a change takes in a row", async () => {
  using kv = await Deno.openKv(":memory:");
  const values = [
    "",
    "€",
    "x".repeat(300),
    0,
    -1,
    1.5,
    null,
    undefined,
    true,
    5n,
    [],
    [1, "a"],
    {},
  ];
  const keys: Deno.KvKey[] = [[""], ["€", "é"], [1, -1, 0.5], [true, 5n], [new Uint8Array(3)]];
  for (const value of [...values, { a: { b: ["€"] } }, new Uint8Array(5)]) {
    for (const key of keys) {
      const size = journalSizeBytes({ kind: "set", key, value });
      const change = [0, key, value, 1.5];
      const fits = (count: number) =>
        kv.set(["row"], {
          v: 2,
          by: "0123456789abcdef",
          changes: Array(count).fill(0).map(() => structuredClone(change)),
        })
          .then(() => true, () => false);
      assert.ok(await fits(Math.floor(65_000 / size)), Deno.inspect(change));
    }
  }
});
