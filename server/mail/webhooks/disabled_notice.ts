/** Disables a webhook, and tells the owner of its org by mail, once. */
import { admit } from "../../base/bounds/rate_window.ts";
import { composeNotice, type NoticeBlock } from "../../base/notices/notice_mail.ts";
import {
  hasChanged,
  newNotice,
  noticeHandler,
  type NoticePayload,
  type NoticeServices,
} from "../../base/notices/notice_handler.ts";
import { forNotices } from "../../base/mailer/next_hop_uses.ts";
import type { OutgoingHandler } from "../../base/outgoing/outgoing_handler.ts";
import { stageNewOutgoing } from "../../base/outgoing/outgoing_row.ts";
import { domainTag, partiesByDomain } from "../../base/outgoing/recipient_domain.ts";
import { unwanted } from "../../base/outgoing/unwanted.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { Limits } from "../../base/config/limits.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import { orgKey, type OrgRecord, orgState } from "../records/org_record.ts";
import { webhookKey, type WebhookRecord } from "../records/webhook_record.ts";
import { stageWebhook } from "./stage_webhook.ts";

const NOTICE_KIND = "mail-webhook-notice";
/** Of an org: a key that may write enables a webhook whose receiver answers 410 again and again. */
const NOTICES_RULE = { limit: 20, windowMs: DAY_MS };
/** Then nobody needs to be told any more. */
const TRIED_MS = 2 * DAY_MS;

interface DisabledPayload extends NoticePayload {
  orgId: string;
  webhookId: string;
  /** As disabling raised it. */
  epoch: number;
}

/** Disables a webhook: what waits for it is dropped, and nothing is recorded for it. */
export function stageDisabling(
  transaction: Transaction,
  webhook: WebhookRecord,
  disabledReason: NonNullable<WebhookRecord["disabledReason"]>,
  random: (sizeBytes: number) => Uint8Array,
): void {
  const { id: webhookId, orgId } = webhook;
  const org = transaction.record(orgKey(orgId));
  if (org === null || org.deletedAtMs !== null) return;
  const epoch = webhook.epoch + 1;
  const told = org.verifiedEmail === null
    ? null
    : admit(org.webhookNotices ?? [], transaction.nowMs, NOTICES_RULE);
  const isTold = told !== null && "window" in told;
  const counted = isTold ? { ...org, webhookNotices: told.window } : org;
  stageWebhook(transaction, counted, { ...webhook, disabledReason, pending: 0, epoch });
  if (org.verifiedEmail === null || !isTold) return;
  stageNewOutgoing(transaction, {
    id: `${NOTICE_KIND}/${webhookId}/${epoch}`,
    kind: NOTICE_KIND,
    destination: domainTag(org.verifiedEmail),
    payload: { ...newNotice(random), orgId, webhookId, epoch } satisfies DisabledPayload,
    dueMs: transaction.nowMs,
  });
}

export interface DisabledNoticeOptions extends NoticeServices {
  records: Pick<RecordCache, "read">;
  limits: Limits;
  baseUrl: string;
  /** RELAY_SMTP_CONNECTIONS. */
  connections: number;
}

interface Told {
  email: string;
  webhook: WebhookRecord;
}

/** What the outgoing queue does with these mails. */
export function disabledNotices(options: DisabledNoticeOptions): OutgoingHandler<DisabledPayload> {
  const { store, from, baseUrl, connections } = options;
  return noticeHandler<DisabledPayload, Told>(options, {
    kind: NOTICE_KIND,
    concurrency: forNotices(connections),
    partiesOf: partiesByDomain,
    triedMs: TRIED_MS,
    read: async ({ payload }) =>
      await readTold(options, payload) ?? unwanted("the webhook is not disabled any more", store),
    compose: async ({ email, webhook }, { payload: { messageId }, queuedAtMs: atMs }) => ({
      to: email,
      content: await composeNotice({
        from,
        to: email,
        subject: `A webhook was disabled at ${new URL(baseUrl).host}`,
        messageId,
        atMs,
        blocks: wordsOf(webhook, baseUrl),
      }),
    }),
    withdraw: async ({ email }, { payload }) =>
      (await readTold(options, payload))?.email === email
        ? null
        : hasChanged("the webhook, or its owner, has changed"),
  });
}

async function readTold(
  { store, records, limits }: DisabledNoticeOptions,
  { orgId, webhookId, epoch }: DisabledPayload,
): Promise<Told | null> {
  const org = await records.read<OrgRecord>(orgKey(orgId));
  const email = org?.verifiedEmail ?? null;
  const isTold = org !== null && email !== null && org.suspendedAtMs === null &&
    orgState(org, store.now(), limits) === "verified";
  if (!isTold) return null;
  const webhook = await records.read<WebhookRecord>(webhookKey(orgId, webhookId));
  if (webhook === null || webhook.disabledReason === null || webhook.epoch !== epoch) return null;
  return { email, webhook };
}

/** Of what others chose nothing but the id, which the relay made: a URL may hold a secret, or words. */
function wordsOf({ id, disabledReason }: WebhookRecord, baseUrl: string): NoticeBlock[] {
  const why = disabledReason === "gone"
    ? "its address answered 410 Gone, which asks for no more deliveries"
    : "its address has taken no delivery for days, or too many waited for it";
  return [
    `The webhook ${id} of your organisation at ${baseUrl} was disabled: ${why}.`,
    "Nothing is delivered to it any more, what waited for it is dropped, and what happens now is not " +
    "kept for it.",
    `Your programs see its last deliveries at GET /v1/mail/webhooks/${id}/deliveries. Once its address ` +
    `answers again, PATCH /v1/mail/webhooks/${id} with {"status":"active"} enables it.`,
  ];
}
