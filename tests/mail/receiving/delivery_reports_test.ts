import assert from "node:assert/strict";
import { sentKey } from "../../../server/mail/mailbox/statuses/queued_mail.ts";
import { keysKey } from "../../../server/mail/records/key_record.ts";
import { mailboxKey } from "../../../server/mail/records/mailbox_record.ts";
import { type Bench, DAY_MS, type Process, withDeliveries } from "../sending/delivery_bench.ts";

const READER = "reader@example.org";

/** A report of delivery as servers write it. */
function dsn(action: string, status: string, diagnostic?: string): Uint8Array {
  const code = diagnostic === undefined ? "" : `\r\nDiagnostic-Code: smtp; ${diagnostic}`;
  return new TextEncoder().encode(
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n' +
      "--b\r\n\r\nwords\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n" +
      "Reporting-MTA: dns; mx.example\r\n\r\n" +
      `Final-Recipient: rfc822; elsewhere@example.net\r\nAction: ${action}\r\nStatus: ${status}${code}\r\n` +
      "\r\n--b--\r\n",
  );
}

const report = (by: Process, messageId: string, raw: Uint8Array, recipient = 0) =>
  by.reports.receive({ messageId, recipient }, { raw, from: "" });

for (const exclusive of [true, false]) {
  Deno.test(`a failed report bounces the recipient that the address names, and suppresses a hard one (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open({ exclusive });
      const sent = await bench.accept(relay, ["other@example.org", READER]);
      await relay.outgoing.run();
      bench.clock.advance(1_000);
      const raw = dsn("failed", "5.1.1", "550 5.1.1 no such user");
      assert.deepEqual(await report(relay, sent.id, raw, 1), { answer: "applied" });
      const { recipients } = await bench.message(sent);
      assert.equal(recipients[0]!.status, "sent");
      assert.deepEqual(
        [recipients[1]!.status, recipients[1]!.reason, recipients[1]!.smtpCode],
        ["bounced", "refused", 550],
      );
      assert.deepEqual([recipients[1]!.enhancedCode, recipients[1]!.detail], [
        "5.1.1",
        "no such user",
      ]);
      const { suppressions } = await relay.suppressions.list(bench.org.id, null, 10);
      assert.deepEqual(
        suppressions.map(({ address, reason, messageId }) => [address, reason, messageId]),
        [[READER, "hard_bounce", sent.id]],
      );
      // Repeated, or taken back: it stays, and costs no commit.
      const before = await bench.message(sent);
      const guard = mailboxKey(bench.org.id, bench.inboxId);
      const { versionstamp } = await bench.kv.get(guard);
      await report(relay, sent.id, raw, 1);
      await report(relay, sent.id, dsn("delivered", "2.0.0"), 1);
      assert.deepEqual(await bench.message(sent), before);
      assert.equal((await bench.kv.get(guard)).versionstamp, versionstamp);
      const next = await bench.accept(relay, [READER]);
      await relay.outgoing.run();
      assert.equal((await bench.recipient(next)).reason, "suppressed");
    }));
}

Deno.test("reports of delay change nothing; of delivery, of a full mailbox: delivered, bounced, never suppressed", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [READER]);
    await relay.outgoing.run();
    await report(relay, sent.id, dsn("delayed", "4.4.1", "451 later"));
    assert.equal((await bench.recipient(sent)).status, "sent");
    await report(relay, sent.id, dsn("delivered", "2.0.0"));
    assert.equal((await bench.recipient(sent)).status, "delivered");
    await report(relay, sent.id, dsn("failed", "5.2.2", "552 5.2.2 full"));
    assert.equal((await bench.recipient(sent)).status, "bounced");
    assert.deepEqual(await relay.suppressions.among(bench.org.id, [READER]), []);
  }));

Deno.test("a report before anything was sent, of another recipient, or after 30 days says nothing", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const failed = dsn("failed", "5.1.1");
    const sent = await bench.accept(relay, [READER]);
    assert.deepEqual(await report(relay, sent.id, failed), { answer: "applied" });
    assert.equal((await bench.recipient(sent)).status, "queued");
    assert.deepEqual(await report(relay, sent.id, failed, 1), { answer: "unknown" });
    assert.deepEqual(await report(relay, "msg_01ARYZ6S410000000000000000", failed), {
      answer: "unknown",
    });
    await relay.outgoing.run();
    const other = new TextEncoder().encode("Subject: out of office\r\n\r\nback soon\r\n");
    const answer = await report(relay, sent.id, other);
    assert.ok(answer.answer === "mail" && answer.row.id === sent.id);
    bench.clock.advance(30 * DAY_MS - 1);
    assert.deepEqual(await report(relay, sent.id, dsn("delayed", "4.0.0")), { answer: "applied" });
    bench.clock.advance(1);
    assert.deepEqual(await report(relay, sent.id, failed), { answer: "unknown" });
    assert.equal((await bench.recipient(sent)).status, "sent");
    assert.ok((await bench.kv.get(sentKey(sent.id))).value !== null);
  }));

for (const exclusive of [true, false]) {
  Deno.test(`a report before the final reply stands, whatever that is (exclusive: ${exclusive})`, () =>
    withDeliveries(async (bench) => {
      const relay = await bench.open({ exclusive });
      for (const reply of ["250 stored", "451 later", "cut"]) {
        const sent = await bench.accept(relay, [`${reply[0]}@example.org`]);
        bench.smtp.script({ content: "silence" });
        const reached = bench.smtp.reached("content");
        const running = relay.outgoing.run();
        await reached;
        assert.ok((await relay.outgoing.held()).has(`mail/${sent.id}/0`));
        await report(relay, sent.id, dsn("failed", "5.1.1"));
        assert.equal((await bench.recipient(sent)).status, "bounced", reply);
        if (reply === "cut") bench.smtp.cutAll();
        else bench.smtp.release(reply);
        await running;
        assert.equal((await bench.recipient(sent)).status, "bounced", reply);
        bench.smtp.script({});
        bench.clock.advance(2 * 60_000);
        await relay.outgoing.run();
        assert.equal(await bench.queued(sent), null, reply);
      }
      assert.equal(bench.smtp.contents.length, 3);
    }));
}

Deno.test("a mail of which nobody knows is settled by its report", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    for (const [action, status] of [["delivered", "delivered"], ["failed", "bounced"]] as const) {
      const sent = await bench.accept(relay, [READER]);
      bench.smtp.script({ content: "cut" });
      await relay.outgoing.run();
      assert.equal((await bench.recipient(sent)).reason, "unknown");
      await report(relay, sent.id, dsn(action, action === "failed" ? "5.7.1" : "2.0.0"));
      const recipient = await bench.recipient(sent);
      assert.equal(recipient.status, status);
      assert.equal(recipient.reason, action === "failed" ? "refused" : null);
    }
  }));

/** A caller with a new key of the org. */
async function ownerOf({ kv, org }: Bench) {
  const key = { id: "key_1", expiresAtMs: null };
  await kv.set(keysKey(org.id), { v: 1, keys: [key] });
  return { org, key };
}

Deno.test("complaints suppress, and nothing leaves them", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const sent = await bench.accept(relay, [READER]);
    await relay.outgoing.run();
    const { orgId, inboxId, id: messageId } = sent;
    const named = { v: 1, orgId, inboxId, messageId, recipient: 0 } as const;
    const changed = await relay.changes.report(named, { trigger: "complained" });
    assert.ok(typeof changed === "object" && changed.after.status === "complained");
    assert.equal(await relay.changes.report(named, { trigger: "complained" }), "unchanged");
    await report(relay, sent.id, dsn("failed", "5.1.1"));
    assert.equal((await bench.recipient(sent)).status, "complained");
    const { suppressions } = await relay.suppressions.list(orgId, null, 10);
    assert.deepEqual(suppressions.map(({ reason }) => reason), ["complaint"]);
    const owner = await ownerOf(bench);
    await relay.suppressions.lift(owner, READER);
    assert.deepEqual(await relay.suppressions.among(orgId, [READER]), []);
    await assert.rejects(relay.suppressions.lift(owner, READER), { code: "not_found" });
    assert.deepEqual(
      await Array.fromAsync(bench.kv.list({ prefix: ["mail-suppression-order"] })),
      [],
    );
  }));

Deno.test("Suppressions.list() pages by time, the newest first, also when one is lifted meanwhile", () =>
  withDeliveries(async (bench) => {
    const relay = await bench.open();
    const addresses = Array.from({ length: 7 }, (_, i) => `reader${i}@example.org`);
    for (const address of addresses) {
      const sent = await bench.accept(relay, [address]);
      bench.smtp.script({ RCPT: { reply: "550 5.1.1 who" } });
      await relay.outgoing.run();
      assert.equal((await bench.recipient(sent)).status, "bounced");
      bench.clock.advance(1_000);
    }
    const owner = await ownerOf(bench);
    const pages: string[][] = [];
    let after = null;
    do {
      const page = await relay.suppressions.list(bench.org.id, after, 3);
      pages.push(page.suppressions.map(({ address }) => address));
      after = page.last;
      if (pages.length === 1) await relay.suppressions.lift(owner, addresses[3]!);
    } while (after !== null);
    assert.deepEqual(pages, [
      [addresses[6], addresses[5], addresses[4]],
      [addresses[2], addresses[1], addresses[0]],
    ]);
  }));
