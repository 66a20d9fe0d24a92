/** The webhooks of orgs: made, found, changed, deleted, tried out (docs/mail.md, "Webhooks"). */
import { RelayError } from "../../base/errors.ts";
import { eventKeyOf } from "../records/event_record.ts";
import { clientIdKey } from "../records/inbox_record.ts";
import { isMailId, makeMailId } from "../records/mail_id.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import {
  attemptKey,
  type AttemptRow,
  type DeliveredEvent,
  keptAttempts,
  webhookKey,
  type WebhookRecord,
} from "../records/webhook_record.ts";
import { type CallingKey, requireCaller } from "../access/require_org.ts";
import { unknownObject } from "../access/unknown_object.ts";
import type { MailCaller } from "../access/authenticate_key.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { stageSingle, stageWebhook } from "./stage_webhook.ts";
import type { WebhookChanges, WebhookRequest } from "./webhook_request.ts";
import { rotated, type WebhookSecrets } from "./webhook_secrets.ts";

export interface WebhooksServices
  extends Pick<MailCore, "store" | "records" | "commits" | "random" | "limits" | "inboxes"> {
  secrets: WebhookSecrets;
}

/** A webhook whose secret is shown this once. */
export interface ShownOnce {
  webhook: WebhookRecord;
  secret: string;
}

/** Decides what a webhook is to be. */
type Change = (before: WebhookRecord, nowMs: number) => WebhookRecord;

export class Webhooks {
  constructor(private readonly services: WebhooksServices) {}

  /**
   * Makes a webhook, or finds the one that was made under the same client_id.
   * @returns without a secret what was there already
   * @throws RelayError `not_found` for an inbox, `webhook_limit_reached`, and as requireCaller()
   */
  async create(
    caller: MailCaller,
    { url, events, inboxes, clientId }: WebhookRequest,
  ): Promise<ShownOnce | { webhook: WebhookRecord; secret: null }> {
    const { store, commits, random, limits, secrets } = this.services;
    const orgId = caller.org.id;
    const inboxIds = await this.#inboxIds(caller, inboxes);
    const id = makeMailId("wh", store.now(), random);
    const { secret, sealed } = await secrets.make(id);
    const namedKey = clientId === null ? null : clientIdKey(orgId, "webhook", clientId);
    return await commits.submit((transaction) => {
      const org = requireCaller(transaction, caller, limits);
      const formerId = namedKey === null ? undefined : transaction.record(namedKey)?.id;
      const former = formerId === undefined
        ? null
        : transaction.record(webhookKey(orgId, formerId));
      if (former !== null) return { webhook: former, secret: null };
      if ((org.webhooks ?? []).length >= limits.mailWebhooksPerOrg) {
        throw new RelayError(
          "webhook_limit_reached",
          `an org has at most ${limits.mailWebhooksPerOrg} webhooks, disabled ones included; delete one that is not used any more (DELETE /v1/mail/webhooks/{id})`,
        );
      }
      const webhook: WebhookRecord = {
        v: 1,
        id,
        orgId,
        url,
        events,
        inboxIds,
        disabledReason: null,
        secrets: [sealed],
        consecutiveFailures: 0,
        failingSince: null,
        lastSuccessAtMs: null,
        lastFailure: null,
        pending: 0,
        single: 0,
        epoch: 1,
        sequence: 0,
        clientId,
        createdAtMs: transaction.nowMs,
      };
      stageWebhook(transaction, org, webhook);
      if (namedKey !== null) transaction.putRecord(namedKey, { v: 1, id });
      return { webhook, secret };
    });
  }

  /** @throws RelayError `not_found` */
  async find({ org }: CallingKey, webhookId: string): Promise<WebhookRecord> {
    const webhook = isMailId("wh", webhookId)
      ? await this.services.records.read<WebhookRecord>(webhookKey(org.id, webhookId))
      : null;
    if (webhook === null) throw unknownObject("webhook");
    return webhook;
  }

  /**
   * A page of the org's webhooks, the oldest first.
   * @param afterId id of the last one of the page before, "" for the first page
   */
  async list(
    orgId: string,
    afterId: string,
    limit: number,
  ): Promise<{ webhooks: WebhookRecord[]; lastId: string | null }> {
    const { records } = this.services;
    const org = await records.read<OrgRecord>(orgKey(orgId));
    // By id, as cursors go on: those of one millisecond stand in no order of their ids.
    const rest = (org?.webhooks ?? []).map(({ id }) => id).filter((id) => id > afterId).sort();
    const ids = rest.slice(0, limit);
    const found = await Promise.all(
      ids.map((id) => records.read<WebhookRecord>(webhookKey(orgId, id))),
    );
    return {
      webhooks: found.filter((webhook) => webhook !== null),
      lastId: rest.length > ids.length ? ids.at(-1) ?? null : null,
    };
  }

  /** @throws RelayError `not_found`, also for an inbox, and as requireCaller() */
  async change(
    caller: MailCaller,
    webhookId: string,
    { url, events, inboxes, isEnabled }: WebhookChanges,
  ): Promise<WebhookRecord> {
    const inboxIds = inboxes && await this.#inboxIds(caller, inboxes);
    return await this.#change(caller, webhookId, (before) => ({
      ...before,
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events }),
      ...(inboxIds === undefined ? {} : { inboxIds }),
      ...(isEnabled === undefined
        ? {}
        : { disabledReason: null, consecutiveFailures: 0, failingSince: null }),
    }));
  }

  /** Makes another secret; the one before signs beside it for a day. @throws as change() */
  async rotate(caller: CallingKey, webhookId: string): Promise<ShownOnce> {
    const { secret, sealed } = await this.services.secrets.make(webhookId);
    const webhook = await this.#change(caller, webhookId, (before, nowMs) => ({
      ...before,
      secrets: rotated(before.secrets, sealed, nowMs),
    }));
    return { webhook, secret };
  }

  async #change(caller: CallingKey, webhookId: string, change: Change): Promise<WebhookRecord> {
    const { commits, limits } = this.services;
    return await commits.submit((transaction) => {
      const org = requireCaller(transaction, caller, limits);
      const before = transaction.record(webhookKey(org.id, webhookId));
      if (before === null) throw unknownObject("webhook");
      const webhook = change(before, transaction.nowMs);
      stageWebhook(transaction, org, webhook);
      return webhook;
    });
  }

  /**
   * Deletes a webhook with its log; what waits for it is dropped when it is due.
   * @throws RelayError `not_found` where it has gone meanwhile, and as requireCaller()
   */
  async delete(caller: CallingKey, webhookId: string): Promise<void> {
    const { commits, limits } = this.services;
    await commits.submit((transaction) => {
      const org = requireCaller(transaction, caller, limits);
      const key = webhookKey(org.id, webhookId);
      const webhook = transaction.record(key);
      if (webhook === null) throw unknownObject("webhook");
      const { clientId } = webhook;
      const webhooks = (org.webhooks ?? []).filter(({ id }) => id !== webhookId);
      transaction.putRecord(orgKey(org.id), { ...org, webhooks });
      transaction.putRecord(key, null);
      if (clientId !== null) transaction.putRecord(clientIdKey(org.id, "webhook", clientId), null);
      for (const n of keptAttempts(webhook)) transaction.delete(attemptKey(org.id, webhookId, n));
    });
  }

  /**
   * Queues one delivery of `webhook.test`.
   * @returns id of the event
   * @throws RelayError `not_found`, `rate_limited`, and as requireCaller()
   */
  async test(caller: CallingKey, webhookId: string): Promise<string> {
    const { random } = this.services;
    return await this.#deliverOnce(caller, webhookId, (nowMs) => ({
      orgId: caller.org.id,
      inboxId: "",
      objectId: webhookId,
      eventId: makeMailId("evt", nowMs, random),
      type: "webhook.test",
      createdAtMs: nowMs,
    }));
  }

  /**
   * The event of an attempt in the log.
   * @throws RelayError `not_found` for an attempt that the log has not, or whose event has gone
   */
  async findDelivery(
    { org: { id: orgId } }: CallingKey,
    webhookId: string,
    deliveryId: string,
  ): Promise<DeliveredEvent> {
    const [row] = isMailId("dlv", deliveryId)
      ? await this.services.store.list<AttemptRow>(
        { prefix: attemptKey.under(orgId, webhookId) },
        { limit: 1, take: ({ value }) => value.id === deliveryId },
      )
      : [];
    if (row === undefined) throw unknownObject("delivery");
    const { inboxId, objectId, eventId, type, createdAtMs } = row.value;
    const event: DeliveredEvent = { orgId, inboxId, objectId, eventId, type, createdAtMs };
    if (await this.#isThere(event)) return event;
    throw new RelayError(
      "not_found",
      "the event of this delivery has gone: it is erased with its message or draft, and after 7 days",
    );
  }

  /**
   * Queues one more delivery of an event.
   * @returns id of the event
   * @throws RelayError as test()
   */
  async redeliver(caller: CallingKey, webhookId: string, event: DeliveredEvent): Promise<string> {
    return await this.#deliverOnce(caller, webhookId, () => event);
  }

  /** A page of the log, the newest first. @param before number of the last one of the page before */
  async deliveries(
    { orgId, id }: WebhookRecord,
    before: number | null,
    limit: number,
  ): Promise<{ rows: AttemptRow[]; last: number | null }> {
    const prefix = attemptKey.under(orgId, id);
    const selector = before === null ? { prefix } : { prefix, end: attemptKey(orgId, id, before) };
    const found = await this.services.store.list<AttemptRow>(selector, {
      limit: limit + 1,
      reverse: true,
    });
    const page = found.slice(0, limit);
    const rows = await Promise.all(
      page.map(async ({ value }) =>
        await this.#isThere(value) ? value : { ...value, response: "" }
      ),
    );
    const last = found.length > limit ? page.at(-1)!.key.at(-1) as number : null;
    return { rows, last };
  }

  /** Whether the event has not been erased; that of a test is made anew each time. */
  async #isThere(event: DeliveredEvent): Promise<boolean> {
    if (event.type === "webhook.test") return true;
    return (await this.services.store.get(eventKeyOf(event))).value !== null;
  }

  async #deliverOnce(
    caller: CallingKey,
    webhookId: string,
    eventAt: (nowMs: number) => DeliveredEvent,
  ): Promise<string> {
    const { commits, limits, random } = this.services;
    return await commits.submit((transaction) => {
      const org = requireCaller(transaction, caller, limits);
      const webhook = transaction.record(webhookKey(org.id, webhookId));
      if (webhook === null) throw unknownObject("webhook");
      const event = eventAt(transaction.nowMs);
      stageSingle(transaction, org, webhook, event, random);
      return event.eventId;
    });
  }

  /** @throws RelayError `not_found` */
  async #inboxIds(caller: MailCaller, named: readonly string[]): Promise<readonly string[]> {
    const { inboxes } = this.services;
    const found = await Promise.all(named.map((name) => inboxes.find(caller, name)));
    return [...new Set(found.map(({ id }) => id))];
  }
}
