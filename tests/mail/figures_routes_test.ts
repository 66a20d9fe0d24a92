import assert from "node:assert/strict";
import { readFigures } from "../../server/mail/figures/read_figures.ts";
import { orgKey, type OrgRecord } from "../../server/mail/records/org_record.ts";
import { suppressionKey } from "../../server/mail/mailbox/suppressions/suppressions.ts";
import { delayReads } from "../support/delay_reads.ts";
import { handIn, mailText } from "../support/inbound_mail.ts";
import { accepted, assertMailRefused, MailKeyHolder } from "../support/mail_caller.ts";
import { registerOrg, startMailRelay } from "../support/mail_relay.ts";
import { receive, verifiedOrg } from "../support/mail_tools.ts";
import { openMemoryKv, SAVED_AT_ONCE, untilSaved } from "../support/read_through.ts";
import type { TestRelay } from "../support/relay.ts";
import { deliver, listMessages } from "../support/sending_org.ts";
import { storeOn } from "../support/store_on.ts";

const HOUR_MS = 3_600_000;

async function holderOf(relay: TestRelay): Promise<MailKeyHolder> {
  const { orgId, apiKey } = await registerOrg(relay);
  return new MailKeyHolder(relay.url, apiKey, orgId);
}

Deno.test("usage counts the UTC day, activity fills its hours and days", async () => {
  await using relay = await startMailRelay();
  const holder = await holderOf(relay);
  const inbox = await holder.inbox({});
  const receive = async (raw: string) => {
    const timestamp = Math.floor(relay.clock.now() / 1000);
    accepted(await handIn(relay.url, { to: [inbox.address], raw, timestamp }), 200);
  };
  for (let i = 0; i < 3; i++) await receive(mailText({ text: `one ${i}\r\n` }));
  relay.clock.advance(2 * HOUR_MS);
  const later = mailText({ text: "later\r\n" });
  await receive(later);
  await receive(later); // a repetition is stored once
  const usage = accepted(await holder.ask("GET", "/v1/mail/usage"), 200);
  assert.deepEqual(usage, {
    period: { start: "2026-06-01T00:00:00.000Z", end: "2026-06-02T00:00:00.000Z" },
    inboxes: { used: 1, limit: 1 },
    messages_sent: { used: 0, limit: 0 },
    messages_received: 4,
    storage_bytes: { used: usage.storage_bytes.used, limit: 50 * 1024 * 1024 },
  });
  assert.ok(usage.storage_bytes.used > 0);
  const day = accepted(await holder.ask("GET", "/v1/mail/activity?period=24h"), 200);
  assert.deepEqual([day.bucket, day.series.length], ["hour", 24]);
  assert.deepEqual(day.period, {
    start: "2026-05-31T15:00:00.000Z",
    end: "2026-06-01T15:00:00.000Z",
  });
  assert.deepEqual(day.series.slice(-3), [
    { at: "2026-06-01T12:00:00.000Z", received: 3, sent: 0, bounced: 0 },
    { at: "2026-06-01T13:00:00.000Z", received: 0, sent: 0, bounced: 0 },
    { at: "2026-06-01T14:00:00.000Z", received: 1, sent: 0, bounced: 0 },
  ]);
  for (const [period, length] of [["7d", 168], ["30d", 30], ["90d", 90]] as const) {
    const { series } = accepted(await holder.ask("GET", `/v1/mail/activity?period=${period}`), 200);
    assert.equal(series.length, length);
    const received = series.map((row: { received: number }) => row.received);
    assert.equal(received.reduce((sum: number, n: number) => sum + n, 0), 4);
    assert.equal(received.at(-1), length === 168 ? 1 : 4);
  }
  relay.clock.advance(10 * HOUR_MS);
  const next = accepted(await holder.ask("GET", "/v1/mail/usage"), 200);
  assert.equal(next.messages_received, 0);
});

Deno.test("what waits to be sent leaves the hour in which it was counted, whenever its commit was made", async () => {
  using kv = await openMemoryKv();
  const reads = delayReads(kv);
  await using relay = await startMailRelay({
    deps: { kv: reads.kv },
    relay: { journalBounds: SAVED_AT_ONCE },
  });
  const holder = await verifiedOrg(relay);
  const inbox = await holder.inbox();
  await receive(relay, inbox.address);
  await untilSaved(kv);
  const [{ id }] = await listMessages(holder, inbox);
  relay.clock.advance(HOUR_MS - 1);
  // The reply has its time; an hour begins before it is committed.
  reads.hold(([table]) => table === "mail-thread");
  const replying = holder.ask("POST", `/v1/mail/messages/${id}/reply`, { body: { text: "Yes" } });
  await reads.reached(1);
  relay.clock.advance(1);
  reads.release();
  accepted(await replying, 202);
  const pendingOf = async () => {
    const nowMs = relay.clock.now();
    const hours = await readFigures(storeOn(kv), holder.orgId, nowMs - HOUR_MS, nowMs + 1);
    return hours.map(({ counts }) => counts.pending ?? 0);
  };
  assert.deepEqual(await pendingOf(), [1, 0]);
  await deliver(relay);
  assert.deepEqual(await pendingOf(), [0, 0]);
});

Deno.test("delivery-health and activity take the four periods and nothing else", async () => {
  await using relay = await startMailRelay();
  const holder = await holderOf(relay);
  for (const path of ["delivery-health", "activity"]) {
    for (const query of ["", "?period=", "?period=1d", "?period=24H", "?period=7d&period=7d"]) {
      const answer = await holder.ask("GET", `/v1/mail/${path}${query}`);
      assertMailRefused(answer, "invalid_json");
    }
  }
  const health = accepted(await holder.ask("GET", "/v1/mail/delivery-health?period=90d"), 200);
  assert.deepEqual(health, {
    period: health.period,
    sent: 0,
    delivered: 0,
    deferred: 0,
    bounced: { hard: 0, soft: 0 },
    complained: 0,
    failed: 0,
    pending: 0,
    bounce_rate: null,
    complaint_rate: null,
    state: "healthy",
  });
});

Deno.test("suppressions are listed, paged and lifted, each org its own", async () => {
  await using relay = await startMailRelay();
  const holder = await holderOf(relay);
  const other = await holderOf(relay);
  const { kv } = relay.deps;
  const messageId = "msg_01ARYZ6S410000000000000000";
  const put = async (orgId: string, address: string, createdAtMs: number) => {
    const suppression = { v: 1, reason: "hard_bounce", messageId, createdAtMs };
    await kv.set(suppressionKey(orgId, address), suppression);
    await kv.set(["mail-suppression-order", orgId, createdAtMs, address], { v: 1 });
  };
  for (let i = 0; i < 3; i++) await put(holder.orgId, `reader${i}@example.org`, 1_000 + i);
  await put(other.orgId, "theirs@example.org", 1_000);
  const first = accepted(await holder.ask("GET", "/v1/mail/suppressions?limit=2"), 200);
  assert.deepEqual(
    first.data,
    [2, 1].map((i) => ({
      address: `reader${i}@example.org`,
      reason: "hard_bounce",
      message_id: messageId,
      created_at: `1970-01-01T00:00:01.00${i}Z`,
    })),
  );
  const rest = accepted(
    await holder.ask("GET", `/v1/mail/suppressions?limit=2&cursor=${first.next_cursor}`),
    200,
  );
  assert.deepEqual(rest.data.map(({ address }: { address: string }) => address), [
    "reader0@example.org",
  ]);
  assert.equal(rest.next_cursor, null);
  const foreign = await other.ask("GET", `/v1/mail/suppressions?cursor=${first.next_cursor}`);
  assertMailRefused(foreign, "invalid_json");
  const lift = (by: MailKeyHolder, address: string) =>
    by.ask("DELETE", `/v1/mail/suppressions/${address}`);
  accepted(await lift(holder, "Reader1%40EXAMPLE.org"), 204);
  assertMailRefused(await lift(holder, "reader1@example.org"), "not_found");
  assertMailRefused(await lift(holder, "theirs@example.org"), "not_found");
  assertMailRefused(await lift(holder, "x".repeat(2_000)), "not_found");
  const left = accepted(await holder.ask("GET", "/v1/mail/suppressions"), 200);
  assert.equal(left.data.length, 2);
});

Deno.test("an org's figures and suppressions go with it", async () => {
  await using relay = await startMailRelay();
  const holder = await holderOf(relay);
  const inbox = await holder.inbox({});
  const timestamp = Math.floor(relay.clock.now() / 1000);
  accepted(await handIn(relay.url, { to: [inbox.address], raw: mailText({}), timestamp }), 200);
  const { kv } = relay.deps;
  await kv.set(suppressionKey(holder.orgId, "reader@example.org"), {
    v: 1,
    reason: "complaint",
    messageId: "msg_01ARYZ6S410000000000000000",
    createdAtMs: 1,
  });
  await kv.set(["mail-suppression-order", holder.orgId, 1, "reader@example.org"], { v: 1 });
  accepted(await holder.ask("DELETE", "/v1/mail/org", { body: { org_id: holder.orgId } }), 204);
  await relay.relay.crons["figures"]!();
  assert.equal((await kv.get<OrgRecord>(orgKey(holder.orgId))).value, null);
  for (const table of ["mail-figures", "mail-suppression", "mail-suppression-order"]) {
    assert.deepEqual(await Array.fromAsync(kv.list({ prefix: [table, holder.orgId] })), [], table);
  }
});
