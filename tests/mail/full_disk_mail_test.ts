/** A disk that fills up while mail comes: senders keep it, nothing is half there, and it goes on with room. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { auditMailboxes } from "../support/mailbox_audit.ts";
import { accepted, assertMailRefused, newOrg } from "../support/mail_caller.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { smallDiskOrSkip } from "../support/small_disk.ts";

smallDiskOrSkip(
  "mail for a disk that fills up in the middle of it is 503 until there is room",
  24,
  async (disk) => {
    using kv = await openMemoryKv();
    const dataDir = join(disk.path, "data");
    await Deno.mkdir(dataDir);
    await using relay = await startMailRelay({ config: { dataDir }, deps: { kv } });
    const holder = await newOrg(relay);
    const { address, id } = await holder.inbox();
    const deliver = (raw: string) =>
      handIn(relay.url, { to: [address], raw, timestamp: relay.clock.seconds() });
    const small = mailText();
    accepted(await deliver(small), 200);
    const large = mailText({ text: `${"x".repeat(70)}\r\n`.repeat(320_000) });
    for (let i = 0; i < 3; i++) {
      const answer = await deliver(large);
      assertMailRefused(answer, "unavailable");
      assert.ok(Number(answer.headers.get("retry-after")) >= 1);
    }
    assert.equal((await auditMailboxes(kv)).size, 1);
    disk.fill();
    const kept = mailText();
    assertMailRefused(await deliver(kept), "unavailable");
    accepted(await deliver(small), 200); // what is stored is answered again
    const path = `/v1/mail/inboxes/${id}/messages`;
    const { data: [row] } = accepted(await holder.ask("GET", path), 200);
    const raw = await holder.ask("GET", `/v1/mail/messages/${row.id}/raw`);
    assert.equal(raw.body, small);
    disk.empty();
    accepted(await deliver(kept), 200);
    assert.equal((await auditMailboxes(kv)).size, 2);
    accepted(await holder.ask("DELETE", `/v1/mail/messages/${row.id}`), 204);
    assert.equal((await auditMailboxes(kv)).size, 1);
  },
);
