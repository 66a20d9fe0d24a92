/**
 * Makes the body of an event, and queues its deliveries: after the commit that made it happen, so that
 * this one has no more to do, and in one commit with the end of the event's row of the queue.
 */
import { BlobDamaged, type BlobRef, type Blobs } from "../../base/blobs/blobs.ts";
import type {
  AttemptOutcome,
  ExtraWrites,
  OutgoingHandler,
  OutgoingItem,
} from "../../base/outgoing/outgoing_handler.ts";
import type { Reads, Transaction } from "../../base/storage/commits/job.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Store } from "../../base/storage/rows/store.ts";
import { MINUTE_MS } from "../../base/time/time_units.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import type { EventParts } from "../composing/event_body.ts";
import type { Mailboxes, MailboxTransaction } from "../core/mailboxes.ts";
import { shownDraft } from "../mailbox/shown/shown_draft.ts";
import { shownMessage, shownThread } from "../mailbox/shown/shown_message.ts";
import { nothingInFlight } from "../mailbox/statuses/sends_in_flight.ts";
import type { DraftRow } from "../records/draft_record.ts";
import {
  EVENT_KIND,
  eventEndKeyOf,
  eventKeyOf,
  type EventPayload,
  type EventRow,
} from "../records/event_record.ts";
import { type MessageRow, REST } from "../records/message_record.ts";
import { webhookKey, type WebhookRecord } from "../records/webhook_record.ts";
import type { MailWorker } from "../worker/mail_worker.ts";
import { whyDisabled } from "./attempt_outcome.ts";
import { stageDisabling } from "./disabled_notice.ts";
import { stageDelivery } from "./stage_webhook.ts";

export interface EventMakingOptions {
  store: Store;
  records: Pick<RecordCache, "read">;
  mailboxes: Pick<Mailboxes, "withLock" | "extraWrites">;
  blobs: Pick<Blobs, "read" | "write" | "keep" | "discard">;
  reader: Pick<MailWorker, "eventBody">;
  random: (sizeBytes: number) => Uint8Array;
  /** False where nothing is delivered: what happens is not kept. */
  isOn: boolean;
}

const CONCURRENCY = 8;
/** Checks of a commit besides those of webhooks: org, inbox, guard, bytes, the row, the writer's slot, the journal. */
const OTHER_CHECKS = 7;
const NO_TEXTS = 0;

type Item = OutgoingItem<EventPayload>;
type Outcome = AttemptOutcome<EventPayload>;

/** What extraWrites() is told. */
interface Note {
  /** To be kept with the event; null where it has one already, or is to go. */
  body: BlobRef | null;
  /** Who is to have it by this commit; none: the event goes. */
  webhookIds: readonly string[];
}

/** What the outgoing queue does with events. */
export function eventMaking(options: EventMakingOptions): OutgoingHandler<EventPayload> {
  const { mailboxes } = options;
  return {
    kind: EVENT_KIND,
    concurrency: CONCURRENCY,
    partiesOf: (orgId) => ({ org: orgId }),
    longestPauseMs: MINUTE_MS,
    attempt: (item) => attempt(options, item),
    extraWrites: ({ payload, note }, reads) =>
      note === undefined ? null : extraWrites(options, payload, note as Note, reads),
    withLock: ({ orgId, inboxId }, work) => mailboxes.withLock(orgId, inboxId, work),
  };
}

async function attempt(options: EventMakingOptions, { payload }: Item): Promise<Outcome> {
  const { store, isOn } = options;
  const { value: row } = await store.get<EventRow>(eventKeyOf(payload));
  if (row === null) return { result: "dropped", reason: "the event was erased" };
  const hearers = isOn ? await activeOf(options, payload) : [];
  if (hearers.length === 0) {
    const note: Note | undefined = row.body === null ? { body: null, webhookIds: [] } : undefined;
    return { result: "dropped", reason: "nobody hears it", note };
  }
  const most = store.capacity.checks - OTHER_CHECKS;
  const webhookIds = hearers.slice(0, most);
  const body = row.body === null ? await writeBody(options, payload, row) : null;
  const note: Note = { body, webhookIds };
  const rest = hearers.slice(most);
  if (rest.length === 0) return { result: "done", note };
  return {
    result: "retry",
    reason: "more webhooks hear it",
    afterMs: 0,
    untried: true,
    payload: { ...payload, webhookIds: rest, beside: null },
    note,
  };
}

async function activeOf(
  { records }: EventMakingOptions,
  { orgId, webhookIds }: EventPayload,
): Promise<string[]> {
  const webhooks = await Promise.all(
    webhookIds.map((id) => records.read<WebhookRecord>(webhookKey(orgId, id))),
  );
  return webhooks.filter((webhook) => webhook?.disabledReason === null).map((one) => one!.id);
}

async function writeBody(
  options: EventMakingOptions,
  payload: EventPayload,
  row: EventRow,
): Promise<BlobRef> {
  const { blobs, reader } = options;
  const { orgId, inboxId } = payload;
  const { rest, parts } = await partsOf(options, payload, row);
  return await blobs.write([orgId, inboxId], [await reader.eventBody(rest, parts, orgId)]);
}

async function partsOf(
  { blobs }: EventMakingOptions,
  { orgId, inboxId, eventId, beside }: EventPayload,
  { type, createdAtMs, subject }: EventRow,
): Promise<{ rest: Uint8Array; parts: EventParts }> {
  const isMessage = subject !== null && "threadId" in subject;
  const message = isMessage ? subject as MessageRow : null;
  const draft = beside !== null && "draft" in beside
    ? beside.draft
    : isMessage
    ? null
    : subject as DraftRow | null;
  const told = beside !== null && "thread" in beside ? beside : null;
  const shown = message === null ? null : shownMessage(message, nothingInFlight(createdAtMs));
  const rest = message === null ? null : await readSection(blobs, message.blob, REST);
  return {
    rest: rest ?? new Uint8Array(),
    parts: {
      id: eventId,
      type,
      timestamp: timestamp(createdAtMs),
      orgId,
      inboxId,
      message: shown,
      thread: told === null ? null : shownThread(told.thread),
      recipient: told?.recipient === undefined ? null : shown!.recipients[told.recipient] ?? null,
      draft: draft === null ? null : shownDraft(draft),
      draftTexts: draft === null ? null : await readSection(blobs, draft.texts, NO_TEXTS),
    },
  };
}

/** Null where the bytes are damaged, or have gone: the event tells of all else. */
async function readSection(
  blobs: Pick<Blobs, "read">,
  ref: BlobRef,
  section: number,
): Promise<Uint8Array | null> {
  try {
    return await blobs.read(ref, section);
  } catch (error) {
    if (error instanceof BlobDamaged) return null;
    throw error;
  }
}

/** As a change of the mailbox, which guards its events: nothing is added behind an erasure. */
async function extraWrites(
  { store, mailboxes, blobs, random }: EventMakingOptions,
  payload: EventPayload,
  { body, webhookIds }: Note,
  reads: Reads,
): Promise<ExtraWrites | null> {
  const { orgId, inboxId } = payload;
  const key = eventKeyOf(payload);
  const writes = await mailboxes.extraWrites(orgId, inboxId, store.now(), reads, async () => {
    const { value: row } = await store.get<EventRow>(key);
    if (row === null) return null;
    const plan = ({ transaction, mailbox }: MailboxTransaction) => {
      if (webhookIds.length === 0) transaction.delete(key);
      if (body !== null) {
        blobs.keep(transaction, body);
        transaction.set(key, { ...row, subject: null, body } satisfies EventRow);
        transaction.set(eventEndKeyOf(payload, row), { v: 1 });
      }
      for (const webhookId of webhookIds) {
        stageHearing(transaction, { ...payload, ...row }, webhookId, random);
      }
      return { mailbox, result: undefined };
    };
    return { plan };
  });
  if (writes === null && body !== null) await blobs.discard(body);
  return writes;
}

/** Queues the delivery to a webhook, unless it has gone or been disabled meanwhile. */
function stageHearing(
  transaction: Transaction,
  event: EventPayload & EventRow,
  webhookId: string,
  random: (sizeBytes: number) => Uint8Array,
): void {
  const key = webhookKey(event.orgId, webhookId);
  const before = transaction.record(key);
  if (before === null || before.disabledReason !== null) return;
  const webhook = { ...before, pending: before.pending + 1 };
  const { nowMs, livedMs } = transaction;
  const why = whyDisabled(webhook, null, { nowMs, livedMs });
  if (why !== null) return stageDisabling(transaction, webhook, why, random);
  transaction.putRecord(key, webhook);
  stageDelivery(transaction, webhook, event, false);
}
