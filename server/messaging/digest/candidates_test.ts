import assert from "node:assert/strict";
import type { Transaction } from "../../base/storage/commits/group_commit.ts";
import { nameCandidates } from "./candidates.ts";

function named(sends: { recipient: { id: number }; notify: boolean }[]): Deno.KvKey[] {
  const keys: Deno.KvKey[] = [];
  const transaction = { set: (key: Deno.KvKey) => void keys.push(key) };
  nameCandidates(1_000).annotate(sends, transaction as unknown as Transaction);
  return keys;
}

Deno.test("nameCandidates() names each recipient with an address once a group", () => {
  const sent = (id: number, notify: boolean) => ({ recipient: { id }, notify });
  assert.deepEqual(named([sent(7, true), sent(8, false), sent(7, true), sent(9, true)]), [
    ["digest-candidate", 7],
    ["digest-candidate", 9],
  ]);
});
