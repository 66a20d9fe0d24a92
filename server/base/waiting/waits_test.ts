import assert from "node:assert/strict";
import { holeKey, withWaits } from "../../../tests/support/waiting_rig.ts";
import { defineRecord } from "../storage/commits/record_key.ts";
import type { MailboxKind } from "./mailbox_kind.ts";

const trayKey = defineRecord<{ newest: string }, [office: string, tray: string]>(["tray"], 2);

const TRAYS: MailboxKind<{ newest: string }, string> = {
  marks: ["tray-mark"],
  headOf: ({ newest }) => newest,
  changedBy: () => [],
};

Deno.test("Waits bounds the waiters of all kinds together, and each that ends gives its place back", async () => {
  await withWaits(async ({ waits, holes, kv }) => {
    const trays = waits.at(TRAYS);
    const [first, second] = [holes.open(holeKey(1))!, trays.open(trayKey("a", "b"))!];
    assert.equal(holes.open(holeKey(2)), null);
    assert.equal(trays.open(trayKey("a", "c")), null);
    await kv.set(trayKey("a", "b"), { newest: "1" });
    assert.deepEqual(await trays.untilAbove(trayKey("a", "b"), null, {}), { ended: "full" });
    first.end();
    first.end(); // gives back one place only
    const third = trays.open(trayKey("a", "c"))!;
    assert.notEqual(third, null);
    assert.equal(holes.open(holeKey(2)), null);
    second.end();
    third.end();
    assert.equal(waits.size, 0);
  }, { exclusive: true, bound: 2 });
});

Deno.test("Waits ends the waiters of all kinds, and of kinds that come later", async () => {
  await withWaits(async ({ waits, holes, tickers }) => {
    const trays = waits.at(TRAYS);
    const open = [holes.open(holeKey(1))!, trays.open(trayKey("a", "b"))!];
    assert.equal(tickers(), 2);
    waits.close();
    assert.equal(tickers(), 0);
    open.push(trays.open(trayKey("a", "b"))!, waits.at(TRAYS).open(trayKey("a", "b"))!);
    assert.deepEqual(
      await Promise.all(open.map((waiter) => waiter.next())),
      ["stopped", "stopped", "stopped", "stopped"],
    );
    assert.equal(waits.size, 0);
    assert.equal(tickers(), 0);
  }, { exclusive: true });
});
