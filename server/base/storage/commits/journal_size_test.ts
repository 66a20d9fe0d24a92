import assert from "node:assert/strict";
import { withControlledCommits } from "../../../../tests/support/controlled_commits.ts";
import {
  journalNumbers,
  known,
  NEVER,
  rowOf,
  stepOf,
  type Tab,
  tabJob,
  tabKey,
} from "../../../../tests/support/journal.ts";
import { JOURNAL_ROW_BYTES, type JournalRow } from "./journal.ts";

Deno.test("a group ends where its row of the journal is full, and the store takes that row", async () => {
  await withControlledCommits(async ({ kv, storage, commits }) => {
    const text = "€".repeat(10_000); // two bytes each in the store
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    await Promise.all(names.map((name) => storage.records.load(tabKey(name))));
    await Promise.all(
      names.map((name, i) => storage.commits.submit(tabJob(storage, i, [name], text))),
    );
    const sizes = commits.map(({ writes }) =>
      (writes.find(({ key }) => key[0] === "journal")!.value as JournalRow).records.length
    );
    assert.deepEqual(sizes, [3, 3, 1]);
    assert.equal((await journalNumbers(kv)).length, 3);
  }, { journalBounds: NEVER });
});

Deno.test("a record that is written twice in a group counts once in its row, with its last size", async () => {
  await withControlledCommits(async ({ storage, commits }) => {
    await storage.records.load(tabKey("a"));
    const jobs = [30_000, 1, 30_000, 1].map((length, i) =>
      storage.commits.submit(tabJob(storage, i, ["a"], "x".repeat(length)))
    );
    await Promise.all(jobs);
    assert.equal(commits.length, 1);
    assert.deepEqual(await known(storage, "a"), [0, 1, 2, 3]);
  }, { journalBounds: NEVER });
});

Deno.test("the largest record that fits is stored, and one that is larger is refused at once", async () => {
  await withControlledCommits(async ({ kv, storage, commits }) => {
    const large = Math.floor((JOURNAL_ROW_BYTES - 200) / 2);
    await storage.commits.submit(tabJob(storage, 1, ["a"], "€".repeat(large)));
    const others = storage.commits.submit(tabJob(storage, 3, ["c"]));
    await assert.rejects(
      storage.commits.submit(tabJob(storage, 2, ["b"], "€".repeat(large + 200))),
      RangeError,
    );
    assert.equal(await others, 3);
    assert.equal(commits.length, 2);
    await storage.close();
    assert.equal((await kv.get<Tab>(tabKey("a"))).value!.text!.length, large);
  }, { journalBounds: NEVER });
});

Deno.test("records are saved that together are larger than a commit", async () => {
  await withControlledCommits(async ({ kv, storage }) => {
    const names = Array.from({ length: 60 }, (_, i) => `t${i}`);
    const text = "x".repeat(25_000); // counted as 50,000 bytes, and 1.5 MB together
    await Promise.all(
      names.map((name, i) => storage.commits.submit(tabJob(storage, i, [name], text))),
    );
    await storage.close();
    assert.deepEqual(await journalNumbers(kv), []);
    for (const [i, name] of names.entries()) assert.deepEqual(await rowOf(kv, name), [i]);
  }, { journalBounds: NEVER });
});

Deno.test("more than a thousand records and rows are saved in several commits", async () => {
  await withControlledCommits(async ({ kv, storage, commits }) => {
    const names = Array.from({ length: 700 }, (_, i) => `t${i}`);
    for (const [i, name] of names.entries()) {
      await storage.commits.submit(tabJob(storage, i, [name, names[(i + 1) % names.length]!]));
    }
    const from = commits.length;
    await storage.close();
    assert.deepEqual(commits.slice(from).map(stepOf), [
      "raise",
      "save",
      "save",
      "save",
      "deletion",
      "deletion",
    ]);
    assert.deepEqual(await journalNumbers(kv), []);
    for (const [i, name] of names.entries()) {
      assert.deepEqual(await rowOf(kv, name), i === 0 ? [0, 699] : [i - 1, i]);
    }
  }, { journalBounds: NEVER });
});
