import assert from "node:assert/strict";
import { holeKey, settle, withWaits } from "../../../tests/support/waiting_rig.ts";

Deno.test("MarkWatch has every mailbox read after a broken watch, and watches again", async () => {
  await withWaits(async ({ kv, waitSettled, breakWatch, tick, deliver }) => {
    const wait = await waitSettled(4);
    await breakWatch();
    await kv.set(holeKey(4), { head: 1 }); // its mark was lost with the watch
    assert.equal(wait.outcome(), null);
    await tick(); // opens another: its first look sees all
    await settle(kv, wait.isOver);
    assert.equal(wait.outcome(), "changed");
    const later = await waitSettled(4);
    await deliver(4);
    await settle(kv, later.isOver);
    assert.equal(later.outcome(), "changed");
  }, { watchable: true });
});
