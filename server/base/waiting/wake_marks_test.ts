import assert from "node:assert/strict";
import { defineRecord } from "../storage/commits/record_key.ts";
import type { MailboxKind } from "./mailbox_kind.ts";
import { markWakes, wakeShardOf } from "./wake_marks.ts";

const drawerKey = defineRecord<{ head: string }, [desk: string, drawer: number]>(["drawer"], 2);

const DRAWERS: MailboxKind<{ head: string }, string> = {
  marks: ["drawer-mark"],
  headOf: ({ head }) => head,
  changedBy: (result) => (result as { drawers?: ReturnType<typeof drawerKey>[] })?.drawers ?? [],
};

Deno.test("markWakes() marks each shard of what a group changed once, and nothing else", () => {
  const keys: Deno.KvKey[] = [];
  const transaction = { nowMs: 5, set: (key: Deno.KvKey) => void keys.push(key) };
  const results = [
    { drawers: [drawerKey("oak", 13)] },
    { kind: "registered" },
    { drawers: [drawerKey("elm", 3), drawerKey("elm", 20)] },
    null,
  ];
  const marking = markWakes(DRAWERS);
  marking.annotate(results, transaction as never);
  assert.deepEqual(keys, [["drawer-mark", 3], ["drawer-mark", 0]]);
  assert.deepEqual(results.map((result) => marking.sizeOf(result).mutations), [1, 0, 2, 0]);
});

Deno.test("wakeShardOf() gives the shards that processes of other versions know", () => {
  assert.deepEqual([7, 10, 1_234_569].map((id) => wakeShardOf(["in", id])), [7, 0, 9]);
  const ids = ["", "a", "foobar", "inb_01JZ8Q4Z5T9W3V7K2M6N8P0R1S"];
  // FNV-1a, 32 bits: 811c9dc5, e40c292c, bf9cf968 are its published values.
  assert.deepEqual(ids.slice(0, 3).map((id) => wakeShardOf(["box", 1, id])), [
    0x811c9dc5 % 10,
    0xe40c292c % 10,
    0xbf9cf968 % 10,
  ]);
  assert.equal(wakeShardOf(["box", 1, ids[3]!]), wakeShardOf(["box", 2, ids[3]!]));
});

Deno.test("wakeShardOf() spreads ids that differ in their last characters", () => {
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) {
    const shard = wakeShardOf([
      "box",
      `inb_01JZ8Q4Z5T9W3V7K2M6N${i.toString(32).padStart(6, "0")}`,
    ]);
    counts[shard] = counts[shard]! + 1;
  }
  assert.ok(Math.min(...counts) > 800 && Math.max(...counts) < 1_200, String(counts));
});
