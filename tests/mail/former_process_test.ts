/** What processes of former versions on the same store tell by that something has changed. */
import assert from "node:assert/strict";
import { InboxErasures } from "../../server/mail/erasures/inbox_erasures.ts";
import { inboxErasureKey } from "../../server/mail/mailbox/inboxes/inbox_rows.ts";
import { EMPTY_MAILBOX, mailboxKey } from "../../server/mail/records/mailbox_record.ts";
import { emailKey, stageVerifiedEmail } from "../../server/mail/records/verified_email.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { openTestStorage } from "../support/storage.ts";

const EMAIL = "ada@example.org";
const ORG = "org_1";
const INBOX = "ibx_1";

Deno.test("an address that an org gets is marked by another attempt each time", async () => {
  using kv = await openMemoryKv();
  const storage = await openTestStorage(kv, { exclusive: false });
  const marks = new Set<string | undefined>([undefined]);
  for (const id of ["org_1", "org_2"]) {
    await storage.commits.submit((transaction) => {
      stageVerifiedEmail(transaction, { id, verifiedEmail: null }, EMAIL, null);
    });
    marks.add((await kv.get<{ attempt?: string }>(emailKey(EMAIL))).value!.attempt);
  }
  assert.equal(marks.size, 3);
  await storage.close();
});

Deno.test("each step of an inbox's erasure writes the guard by another attempt", async () => {
  using kv = await openMemoryKv();
  const storage = await openTestStorage(kv, { exclusive: false });
  await kv.set(mailboxKey(ORG, INBOX), EMPTY_MAILBOX);
  await kv.set(inboxErasureKey(ORG, INBOX), { v: 1, sinceMs: 0 });
  for (let i = 0; i < 250; i++) await kv.set(["mail-index", ORG, INBOX, i], {});
  const attempts = new Set<string | undefined>([undefined]);
  const lease = {
    async keep() { // asked after each step
      const { value } = await kv.get<{ attempt?: string }>(mailboxKey(ORG, INBOX));
      attempts.add(value?.attempt); // without a guard after the last
      return true;
    },
    release: () => Promise.resolve(),
  };
  const leases = { take: () => Promise.resolve(lease) } as never;
  const blobs = { drop: () => assert.fail("no row has bytes") };
  await new InboxErasures({ ...storage, leases, blobs, log: () => {} }).run();
  assert.equal(attempts.size, 4);
  assert.equal((await kv.get(mailboxKey(ORG, INBOX))).value, null);
  await storage.close();
});
