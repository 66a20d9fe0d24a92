import assert from "node:assert/strict";
import { withControlledCommits } from "../../../../tests/support/controlled_commits.ts";
import {
  journalNumbers,
  known,
  NEVER,
  rowOf,
  stepOf,
  tabJob,
  until,
} from "../../../../tests/support/journal.ts";
import { openTestStorage } from "../../../../tests/support/storage.ts";

const lost = () => new TypeError("error sending request");

for (
  const [name, isStored] of [["is not stored", false], ["was stored all the same", true]] as const
) {
  Deno.test(`a save that was called failed and ${name} undoes no later one, whenever it comes`, async () => {
    let late: (() => Promise<Deno.KvCommitResult | Deno.KvCommitError>) | undefined;
    await withControlledCommits(async ({ kv, storage }) => {
      for (let i = 1; i < 8; i++) await storage.commits.submit(tabJob(storage, i, ["a", "b"]));
      await until(() => late !== undefined);
      for (let i = 8; i < 12; i++) await storage.commits.submit(tabJob(storage, i, ["a"]));
      await until(async () => (await rowOf(kv, "a"))?.length === 11);
      await until(async () => (await journalNumbers(kv)).length === 0);
      assert.deepEqual(await late!(), { ok: false });
      assert.equal((await rowOf(kv, "a"))!.length, 11);
      assert.deepEqual(await rowOf(kv, "b"), [1, 2, 3, 4, 5, 6, 7]);
      await storage.close();
      const next = await openTestStorage(kv);
      assert.equal((await known(next, "a")).length, 11);
      await next.close();
    }, {
      journalBounds: { ...NEVER, rows: 3, afterMs: 5 },
      async intercept(commit, run) {
        if (stepOf(commit) !== "save" || late !== undefined) return await run();
        late = run;
        if (isStored) await run();
        throw lost();
      },
    });
  });
}

Deno.test("a save after one whose fence was raised late tries again", async () => {
  let raises = 0;
  let late: (() => Promise<unknown>) | undefined;
  await withControlledCommits(async ({ kv, storage }) => {
    for (let i = 1; i < 4; i++) await storage.commits.submit(tabJob(storage, i, ["a"]));
    await until(async () => (await rowOf(kv, "a"))?.length === 3);
    assert.equal(raises, 2);
    await late!(); // and now the fence is another one
    for (let i = 4; i < 8; i++) await storage.commits.submit(tabJob(storage, i, ["a"]));
    await until(async () => (await rowOf(kv, "a"))?.length === 7);
    assert.equal(raises, 3);
    await storage.close();
  }, {
    journalBounds: { ...NEVER, rows: 3, afterMs: 5 },
    intercept(commit, run) {
      if (stepOf(commit) !== "raise") return run();
      if (++raises > 1) return run();
      late = run;
      return Promise.reject(lost());
    },
  });
});
