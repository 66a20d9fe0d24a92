import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { keysKey, type KeysRecord, makeKeySecret, OWNER_RIGHTS } from "../records/key_record.ts";
import { addKey } from "./put_keys.ts";

const ORG_ID = "org_01KT1GW6G0WEGMHY6P9JBQ54A0";

Deno.test("addKey() of several jobs in one commit leaves a row for each key of the list, and for no other", async () => {
  using kv = await openMemoryKv();
  const { commits, store: { random }, close } = await openTestStorage(kv);
  const asked = { name: "one", ...OWNER_RIGHTS, signIn: true };
  await Promise.all(Array.from({ length: 12 }, () => {
    const secret = makeKeySecret(random);
    return commits.submit((transaction) => {
      const kept = transaction.record(keysKey(ORG_ID))?.keys.slice(-2) ?? [];
      return addKey(transaction, ORG_ID, kept, { secret, ...asked }, random);
    });
  }));
  assert.ok(commits.counts.groups < 12, "some shared a commit");
  const { value } = await kv.get<KeysRecord>(keysKey(ORG_ID));
  const rows = await Array.fromAsync(kv.list({ prefix: ["mail-key"] }));
  assert.equal(value!.keys.length, 3);
  assert.deepEqual(value!.dropped, []);
  assert.deepEqual(
    rows.map(({ key }) => key[1]).toSorted(),
    value!.keys.map(({ hash }) => hash).toSorted(),
  );
  await close();
});
