import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createFakeKv } from "../../../tests/support/fake_kv.ts";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { countStorage } from "../../base/blobs/stored_bytes.ts";
import { DEFAULT_LIMITS } from "../../base/config/limits.ts";
import { KV_CONNECT_CAPACITY } from "../../base/storage/rows/store.ts";
import { inboxKey } from "../records/inbox_record.ts";
import { newOrg, orgKey } from "../records/org_record.ts";
import { Mailboxes } from "./mailboxes.ts";

const ORG = "org_1";
const INBOX = "ibx_1";

Deno.test("Mailboxes.change() waits for no commit that counts bytes of the org, unless it counts some", async () => {
  using kv = await openMemoryKv();
  const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const fake = createFakeKv({
    kv,
    async intercept({ writes }, run) {
      if (!writes.some(({ key }) => key[0] === "mail-storage")) return await run();
      begun.resolve();
      await held.promise;
      return await run();
    },
  });
  const storage = await openTestStorage(fake, {
    exclusive: false,
    capacity: KV_CONNECT_CAPACITY,
  });
  await kv.set(orgKey(ORG), newOrg(ORG, storage.store.now()));
  await kv.set(inboxKey(ORG, INBOX), { v: 1, id: INBOX, orgId: ORG });
  const waits = { announce: () => {} } as never;
  const mailboxes = new Mailboxes({ ...storage, limits: DEFAULT_LIMITS, waits });
  const counted = storage.commits.submit((transaction) => countStorage(transaction, ORG, 1));
  await begun.promise;
  let isChanged = false;
  const changed = mailboxes.change(ORG, INBOX, () => ({
    plan: ({ mailbox }) => ({ mailbox, result: undefined }),
  })).then(() => isChanged = true);
  for (let looks = 0; looks < 200 && !isChanged; looks++) await kv.get(["any"]);
  const hasWaited = !isChanged;
  held.resolve();
  await Promise.all([counted, changed]);
  assert.equal(hasWaited, false);
  await storage.close();
});
