import assert from "node:assert/strict";
import {
  journalNumbers,
  NEVER,
  openJournal,
  set,
  stepOf,
  until,
  withJournal,
} from "../../../../tests/support/journal.ts";
import type { CommitOutcome } from "../../../../tests/support/fake_kv.ts";

const lost = () => new TypeError("error sending request");

for (
  const [name, isStored] of [["is not stored", false], ["was stored all the same", true]] as const
) {
  Deno.test(`a save that was called failed and ${name} undoes no later one, whenever it comes`, async () => {
    let late: (() => Promise<CommitOutcome>) | undefined;
    await withJournal(async ({ kv, journal, stored }) => {
      for (let i = 1; i < 8; i++) await journal.commit([], [set("a", i), set("b", i)]);
      await until(() => late !== undefined);
      for (let i = 8; i < 12; i++) await journal.commit([], [set("a", i)]);
      await until(async () => await stored("a") === 11);
      await until(async () => (await journalNumbers(kv)).length === 0);
      assert.deepEqual(await late!(), { ok: false });
      assert.deepEqual([await stored("a"), await stored("b")], [11, 7]);
      await journal.close();
      const next = await openJournal(kv);
      assert.equal(await next.read("a"), 11);
      await next.journal.close();
    }, {
      bounds: { ...NEVER, rows: 3, afterMs: 5 },
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
  await withJournal(async ({ journal, stored }) => {
    for (let i = 1; i < 4; i++) await journal.commit([], [set("a", i)]);
    await until(async () => await stored("a") === 3);
    assert.equal(raises, 2);
    await late!(); // and now the fence is another one
    for (let i = 4; i < 8; i++) await journal.commit([], [set("a", i)]);
    await until(async () => await stored("a") === 7);
    assert.equal(raises, 3);
  }, {
    bounds: { ...NEVER, rows: 3, afterMs: 5 },
    intercept(commit, run) {
      if (stepOf(commit) !== "raise" || ++raises > 1) return run();
      late = run;
      return Promise.reject(lost());
    },
  });
});
