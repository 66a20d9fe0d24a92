import assert from "node:assert/strict";
import { holeKey, holeVisitKey, settle, withWaits } from "../../../tests/support/waiting_rig.ts";

Deno.test("MailboxSweeps looks at every waited mailbox each ten seconds, whatever the marks say", async () => {
  await withWaits(async ({ kv, waitSettled, tick }) => {
    const wait = await waitSettled(8);
    await kv.set(holeKey(8), { head: 1 }); // unmarked
    await tick(10);
    await settle(kv, wait.isOver);
    assert.equal(wait.outcome(), "changed");
  });
});

Deno.test("MailboxSweeps looks at the second record of a mailbox each ten seconds", async () => {
  await withWaits(async ({ kv, waitSettled, wait, tick }) => {
    const first = await waitSettled(8);
    await tick(10);
    await settle(kv, first.isOver);
    assert.equal(first.outcome(), "changed"); // the first round knows no second record yet
    const second = wait(8);
    await tick(10);
    assert.equal(second.outcome(), null);
    await kv.set(holeVisitKey(8), { visited: true });
    await tick(10);
    await settle(kv, second.isOver);
    assert.equal(second.outcome(), "changed");
  });
});

Deno.test("MailboxSweeps tries a sweep again that the store did not answer", async () => {
  await withWaits(async ({ kv, waitSettled, deliver, tick }) => {
    const wait = await waitSettled(6);
    const { getMany } = kv;
    await deliver(6);
    let failures = 0;
    kv.getMany = ((keys: Deno.KvKey[]) => {
      if (keys[0]![0] === "pigeonhole" && failures++ === 0) {
        return Promise.reject(new TypeError("error sending request"));
      }
      return getMany.call(kv, keys);
    }) as typeof kv.getMany;
    await tick();
    await settle(kv, () => failures > 0);
    assert.equal(wait.outcome(), null);
    await tick();
    await settle(kv, wait.isOver);
    assert.equal(wait.outcome(), "changed");
    assert.ok(failures >= 1);
  });
});
