import assert from "node:assert/strict";
import { type MailKey, PERMISSIONS } from "../records/key_record.ts";
import { leavingKeys, SIGN_IN_KEYS } from "./sign_in_key.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = 1_000 * HOUR_MS;

const key = (id: string, createdAtMs: number, signIn = true): MailKey => ({
  id,
  hash: id,
  name: id,
  prefix: id,
  scope: "org",
  inboxId: null,
  permissions: PERMISSIONS,
  createdAtMs,
  expiresAtMs: null,
  signIn,
});

Deno.test("leavingKeys() ends a key that was used within a day after every one that was not", () => {
  // All made an hour ago; the first was used 23 hours ago by a clock set back, which counts as it is.
  const keys = Array.from({ length: SIGN_IN_KEYS }, (_, i) => key(`k${i}`, NOW_MS - HOUR_MS));
  const used = new Map<string, number | null>(keys.map(({ id }) => [id, null]));
  used.set("k0", NOW_MS - 23 * HOUR_MS);
  const ids = (atMs: number) => leavingKeys(keys, used, atMs).map(({ id }) => id);
  assert.deepEqual(ids(NOW_MS), ["k1"], "the oldest that nobody uses");
  assert.deepEqual(ids(NOW_MS + HOUR_MS), ["k0"], "a day after its last use");
  for (const { id } of keys.slice(1)) used.set(id, NOW_MS);
  assert.deepEqual(ids(NOW_MS), ["k0"], "where all are used the least recently used one");
});

Deno.test("leavingKeys() leaves other keys, and room, alone", () => {
  const others = Array.from({ length: 30 }, (_, i) => key(`o${i}`, i, false));
  const signIns = Array.from({ length: SIGN_IN_KEYS - 1 }, (_, i) => key(`k${i}`, i));
  assert.deepEqual(leavingKeys([...others, ...signIns], new Map(), NOW_MS), []);
  const full = [...others, ...signIns, key("k", 100)];
  assert.deepEqual(leavingKeys(full, new Map(), NOW_MS).map(({ id }) => id), ["k0"]);
});
