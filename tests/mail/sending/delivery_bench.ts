/** Deliveries of a test: a store with an org and its inbox, the outgoing queue, and a next hop. */
// Over 300 lines: a relay's delivery with all that it leans on, and what tests ask of it.
import assert from "node:assert/strict";
import type { BlobRef } from "../../../server/base/blobs/blobs.ts";
import { BlobDamaged } from "../../../server/base/blobs/blobs.ts";
import { DEFAULT_LIMITS } from "../../../server/base/config/limits.ts";
import { BounceReports } from "../../../server/mail/receiving/reports/bounce_reports.ts";
import { readReport } from "../../../server/mail/reading/reports/read_report.ts";
import { toEnd } from "../../../server/base/slices/sliced.ts";
import {
  type DeliverInside,
  mailDelivery,
} from "../../../server/mail/sending/delivery/mail_delivery.ts";
import { mailRowId, stageMails } from "../../../server/mail/mailbox/statuses/queued_mail.ts";
import {
  type ChangedRecipient,
  RecipientChanges,
} from "../../../server/mail/receiving/reports/recipient_changes.ts";
import { count } from "../../../server/mail/records/figures_record.ts";
import { Mailboxes } from "../../../server/mail/core/mailboxes.ts";
import { inboxKey, type InboxRecord } from "../../../server/mail/records/inbox_record.ts";
import { makeMailId } from "../../../server/mail/records/mail_id.ts";
import {
  messageKey,
  type MessageRow,
  type Recipient,
} from "../../../server/mail/records/message_record.ts";
import { newOrg, orgKey, type OrgRecord } from "../../../server/mail/records/org_record.ts";
import { threadKey, type ThreadRow } from "../../../server/mail/records/thread_record.ts";
import { Suppressions } from "../../../server/mail/mailbox/suppressions/suppressions.ts";
import type { JournalBounds } from "../../../server/base/storage/journal/journal.ts";
import type { Mailer } from "../../../server/base/mailer/mailer.ts";
import { OutgoingQueue } from "../../../server/base/outgoing/outgoing_queue.ts";
import { outgoingKey, type OutgoingRow } from "../../../server/base/outgoing/outgoing_row.ts";
import { createSmtpMailer } from "../../../server/base/mailer/smtp_mailer.ts";
import { KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { createTestClock, type TestClock } from "../../support/clock.ts";
import { delay } from "../../support/pace.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { type ScriptedSmtp, startScriptedSmtp } from "../../support/scripted_smtp.ts";
import { openTestStorage, type TestStorage } from "../../support/storage.ts";

export const DOMAIN = "agents.test";
const THREAD_ID = "thr_01ARYZ6S410000000000000000";
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

/** One process. */
export interface Process extends TestStorage {
  outgoing: OutgoingQueue;
  changes: RecipientChanges;
  reports: BounceReports;
  suppressions: Suppressions;
  mailboxes: Mailboxes;
}

export interface Sent {
  id: string;
  orgId: string;
  inboxId: string;
}

export interface OpenOptions {
  exclusive?: boolean;
  mailer?: Mailer;
  kv?: Deno.Kv;
  journalBounds?: JournalBounds;
}

export interface Bench {
  kv: Deno.Kv;
  clock: TestClock;
  smtp: ScriptedSmtp;
  /** Raw mail by the name of its blob; one that is taken away is damaged. */
  blobs: Map<string, Uint8Array>;
  /** What was delivered inside; the reply to the next ones. */
  inside: { to: string; from: string }[];
  insideReply: Awaited<ReturnType<DeliverInside>>;
  changed: ChangedRecipient[];
  org: OrgRecord;
  inboxId: string;
  open(options?: OpenOptions): Promise<Process>;
  /** Accepts a message as the sending part does. */
  accept(
    by: Process,
    to: readonly string[],
    fields?: Partial<Pick<MessageRow, "sendAtMs">> & { orgId?: string; inboxId?: string },
  ): Promise<Sent>;
  message(sent: Sent): Promise<MessageRow>;
  recipient(sent: Sent, index?: number): Promise<Recipient>;
  queued(sent: Sent, index?: number): Promise<OutgoingRow | null>;
  putOrg(changes: Partial<OrgRecord>): Promise<OrgRecord>;
}

/** Runs a test on an exclusive store in memory, or as one of several processes of a KV server. */
export async function withDeliveries(test: (bench: Bench) => Promise<void>): Promise<void> {
  const kv = await openMemoryKv();
  const clock = createTestClock();
  const processes: Process[] = [];
  const mailers: Mailer[] = [];
  await using smtp = startScriptedSmtp();
  const org = makeOrg(clock.now());
  const inboxId = makeMailId("ibx", clock.now(), random);
  const bench: Bench = {
    kv,
    clock,
    smtp,
    blobs: new Map(),
    inside: [],
    insideReply: { code: 250, enhancedCode: null, text: "taken" },
    changed: [],
    org,
    inboxId,
    async open({ exclusive = true, mailer, kv: ownKv = kv, journalBounds } = {}) {
      const storage = await openTestStorage(ownKv, {
        journalBounds,
        exclusive,
        clock,
        ...(exclusive ? {} : { capacity: KV_CONNECT_CAPACITY }),
      });
      const { store, records, commits } = storage;
      const waits = { announce() {} } as unknown as ConstructorParameters<
        typeof Mailboxes
      >[0]["waits"];
      const limits = DEFAULT_LIMITS;
      const mailboxes = new Mailboxes({ records, commits, limits, waits });
      const changes = new RecipientChanges({
        store,
        records,
        mailboxes,
        random,
        onChange: (_transaction, changed) => void bench.changed.push(changed),
      });
      const outgoing = new OutgoingQueue({ store, records, commits, log: () => {} });
      const made = mailer ?? createSmtpMailer({
        smtp: { host: "127.0.0.1", port: smtp.port, secure: false },
        ehloName: DOMAIN,
        timing: { connectMs: 5_000, replyMs: 500, finalReplyMs: 500, quitMs: 50, idleMs: 60_000 },
      });
      mailers.push(made);
      const handlers = mailDelivery({
        store,
        records,
        mailboxes,
        changes,
        limits,
        mailer: made,
        domain: DOMAIN,
        concurrency: 6,
        envelopeSender: (id, recipient) => Promise.resolve(`bounce+${id}.${recipient}@${DOMAIN}`),
        deliverInside({ from, to }) {
          bench.inside.push({ from, to });
          return Promise.resolve(bench.insideReply);
        },
        blobs: {
          read({ name }) {
            const bytes = bench.blobs.get(name.join("/"));
            if (bytes === undefined) throw new BlobDamaged(name, "missing");
            return Promise.resolve(bytes as Uint8Array<ArrayBuffer>);
          },
        },
      });
      for (const handler of handlers) outgoing.register(handler);
      const process: Process = {
        ...storage,
        outgoing,
        changes,
        mailboxes,
        reports: new BounceReports({
          store,
          changes,
          reader: {
            readReport: (raw, from) => Promise.resolve(toEnd(readReport(raw, from))),
          },
        }),
        suppressions: new Suppressions({ store, records, commits, limits }),
      };
      processes.push(process);
      return process;
    },
    async accept(by, to, { sendAtMs = null, orgId = org.id, inboxId: inbox = inboxId } = {}) {
      const id = makeMailId("msg", clock.now(), random);
      const blob: BlobRef = { name: [orgId, inbox, id], sections: [{ sizeBytes: 30, sha256: "" }] };
      bench.blobs.set(blob.name.join("/"), rawOf(id));
      await by.mailboxes.change<MessageRow>(orgId, inbox, () => ({
        plan({ transaction, mailbox }) {
          const row = makeMessage(
            { id, orgId, inboxId: inbox, to, sendAtMs, blob },
            transaction.nowMs,
          );
          transaction.set(messageKey(orgId, inbox, id), row);
          stageMails(transaction, row, { store: by.store, domain: DOMAIN });
          count(transaction, orgId, transaction.nowMs, { accepted: to.length, pending: to.length });
          return { mailbox: { ...mailbox, headId: id }, result: row };
        },
      }));
      return { id, orgId, inboxId: inbox };
    },
    async message({ orgId, inboxId, id }) {
      const { value } = await kv.get<MessageRow>(messageKey(orgId, inboxId, id));
      assert.ok(value !== null);
      return value;
    },
    recipient: async (sent, index = 0) => (await bench.message(sent)).recipients[index]!,
    queued: async ({ id }, index = 0) =>
      (await kv.get<OutgoingRow>(outgoingKey(mailRowId(id, index)))).value,
    async putOrg(changes) {
      const changed: OrgRecord = { ...org, ...changes };
      await kv.set(orgKey(changed.id), changed);
      // As if this process had committed it.
      for (const { records } of processes) records.refresh(orgKey(changed.id));
      return changed;
    },
  };
  await kv.set(orgKey(org.id), org);
  await kv.set(inboxKey(org.id, inboxId), makeInbox(org.id, inboxId, clock.now()));
  try {
    await test(bench);
  } finally {
    for (const { outgoing } of processes) await outgoing.close(100);
    for (const mailer of mailers) await mailer.close();
    for (const storage of processes) await storage.close();
    kv.close();
    await delay(1);
  }
}

/** The thread of all messages, which events show besides. */
export async function putThread(
  { kv, org, inboxId, clock }: Bench,
  fields: Partial<ThreadRow> = {},
): Promise<ThreadRow> {
  const thread: ThreadRow = {
    v: 1,
    id: THREAD_ID,
    orgId: org.id,
    inboxId,
    subject: "hello",
    participants: [],
    messageCount: 1,
    unreadCount: 0,
    lastMessageId: "msg_01ARYZ6S410000000000000000",
    preview: "hello",
    lastMessageAtMs: clock.now(),
    createdAtMs: clock.now(),
    ...fields,
  };
  await kv.set(threadKey(org.id, inboxId, THREAD_ID), thread);
  return thread;
}

/** The message as it was accepted, which is what the next hop is to be given. */
export const rawOf = (id: string): Uint8Array =>
  new TextEncoder().encode(`Subject: ${id}\r\n\r\nhello\r\n.a dot\r\n`);

export function makeOrg(nowMs: number): OrgRecord {
  const known = { verifiedEmail: "owner@example.org", inboxes: 1 };
  return newOrg(makeMailId("org", nowMs, random), nowMs, known);
}

export function makeInbox(orgId: string, id: string, nowMs: number): InboxRecord {
  return {
    v: 1,
    id,
    orgId,
    localPart: "agent",
    displayName: null,
    sendPolicy: "direct",
    retentionDays: null,
    lists: [],
    clientId: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

function makeMessage(
  { id, orgId, inboxId, to, sendAtMs, blob }: Sent & {
    to: readonly string[];
    sendAtMs: number | null;
    blob: BlobRef;
  },
  nowMs: number,
): MessageRow {
  return {
    v: 1,
    id,
    orgId,
    inboxId,
    threadId: THREAD_ID,
    direction: "outbound",
    envelope: null,
    auth: null,
    from: { name: null, address: `agent@${DOMAIN}` },
    replyTo: [],
    to: to.map((address) => ({ name: null, address })),
    cc: [],
    bcc: [],
    subject: "hello",
    preview: "hello",
    signature: null,
    textSource: "plain",
    attachments: [],
    rfcMessageId: null,
    inReplyTo: null,
    references: [],
    automated: "none",
    hiddenTextRemoved: false,
    parseWarnings: [],
    codes: [],
    recipients: to.map((address) => ({
      address,
      status: "queued",
      smtpCode: null,
      enhancedCode: null,
      reason: null,
      detail: null,
      attempts: 0,
      nextAttemptAtMs: null,
      atMs: nowMs,
    })),
    sendAtMs,
    cancelledAtMs: null,
    labels: [],
    read: true,
    createdAtMs: nowMs,
    blob,
    repeatKey: null,
  };
}
