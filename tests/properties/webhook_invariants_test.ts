/** Webhooks over random histories of an org: what the store says of them agrees with itself at every step. */
import assert from "node:assert/strict";
import { openMemoryKv } from "../support/read_through.ts";
import fc from "../support/seeded_fast_check.ts";
import { outgoingKey, type OutgoingRow } from "../../server/base/outgoing/outgoing_row.ts";
import { KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { eventKey, type EventRow } from "../../server/mail/records/event_record.ts";
import { orgKey, type OrgRecord } from "../../server/mail/records/org_record.ts";
import {
  attemptKey,
  DELIVERY_KIND,
  type DeliveryPayload,
  filterOf,
  KEPT_ATTEMPTS,
  keptAttempts,
  webhookKey,
  type WebhookRecord,
} from "../../server/mail/records/webhook_record.ts";
import { createFakeKv } from "../support/fake_kv.ts";
import { auditStorage } from "../support/mailbox_audit.ts";
import { propertyRuns } from "../support/property_runs.ts";
import { send } from "../support/sending_org.ts";
import {
  rowsOf,
  settle,
  startWebhookWorld,
  type TakenDelivery,
  waiting,
  type WebhookWorld,
} from "../support/webhook_world.ts";
import { handIn, mailText } from "../support/inbound_mail.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const STATUSES = [200, 204, 302, 410, 429, 500];
const PASSED_MS = [
  5_600,
  5 * MINUTE_MS,
  40 * MINUTE_MS,
  DAY_MS,
  3 * DAY_MS,
  8 * DAY_MS,
];

const step = fc.oneof(
  fc.record({ what: fc.constant("make" as const), events: fc.nat(3), one: fc.boolean() }),
  fc.record({
    what: fc.constantFrom("enable", "narrow", "move", "rotate", "unmake", "test", "redeliver"),
    n: fc.nat(20),
  }),
  fc.record({ what: fc.constantFrom("receive", "send", "draft"), n: fc.nat(1) }),
  fc.record({ what: fc.constantFrom("erase", "sendDraft", "discard"), n: fc.nat(20) }),
  fc.record({ what: fc.constant("answer" as const), n: fc.nat(STATUSES.length - 1) }),
  fc.record({ what: fc.constant("pass" as const), n: fc.nat(PASSED_MS.length - 1) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What a history has made, by ids. */
class History {
  readonly webhooks: string[] = [];
  readonly messages: string[] = [];
  readonly drafts: string[] = [];
  readonly inboxes: { id: string; address: string }[] = [];
  mails = 0;

  constructor(readonly world: WebhookWorld) {}

  async take(step: Step): Promise<void> {
    const { owner, relay, receiver } = this.world;
    const some = <T>(all: T[], n: number): T | undefined => all[n % Math.max(1, all.length)];
    const ask = (method: "POST" | "PATCH" | "DELETE" | "GET", path: string, body?: object) =>
      owner.ask(method, `/v1/mail/${path}`, body === undefined ? {} : { body });
    if (step.what === "make") {
      const events = [undefined, ["message.received"], ["message.sent", "draft.created"], [
        "webhook.test",
      ]][step.events];
      const url = `${receiver.url}/${this.webhooks.length}`;
      const inbox_ids = step.one ? [this.inboxes[0]!.id] : [];
      const { body } = await ask("POST", "webhooks", { url, events, inbox_ids });
      if (body.id !== undefined) this.webhooks.push(body.id);
    } else if (step.what === "answer") {
      const status = STATUSES[step.n]!;
      receiver.answer = ({ text }: TakenDelivery) =>
        new Response(status === 204 ? null : text, {
          status,
          headers: status === 429 ? { "Retry-After": "3600" } : {},
        });
    } else if (step.what === "pass") {
      await settle(this.world); // what was written before a leap is not kept behind it
      relay.clock.advance(PASSED_MS[step.n]!);
      await relay.relay.crons["figures"]!();
    } else if (step.what === "receive") {
      const raw = mailText({ text: `Hello ${++this.mails}.` });
      const timestamp = Math.floor(relay.clock.now() / 1000);
      await handIn(relay.url, { to: [this.inboxes[step.n]!.address], raw, timestamp });
      await this.#learn();
    } else if (step.what === "send") {
      const to = ["ann@example.org", "bo@bounce.test", "cy@defer.test", this.inboxes[0]!.address];
      await send(owner, this.inboxes[step.n]!, { to, text: `Words ${++this.mails}.` });
      await this.#learn();
    } else if (step.what === "draft") {
      const path = `inboxes/${this.inboxes[step.n]!.id}/drafts`;
      const { body } = await ask("POST", path, { to: "ann@example.org", text: "Words." });
      if (body.id !== undefined) this.drafts.push(body.id);
    } else if (step.what === "erase") {
      const id = some(this.messages, step.n);
      if (id !== undefined) await ask("DELETE", `messages/${id}`);
    } else if (step.what === "sendDraft" || step.what === "discard") {
      const id = some(this.drafts, step.n);
      if (id === undefined) return;
      if (step.what === "discard") await ask("DELETE", `drafts/${id}`);
      else await ask("POST", `drafts/${id}/send`, {});
      await this.#learn();
    } else {
      const id = some(this.webhooks, step.n);
      if (id === undefined) return;
      const path = `webhooks/${id}`;
      if (step.what === "enable") await ask("PATCH", path, { status: "active" });
      if (step.what === "narrow") await ask("PATCH", path, { events: ["message.received"] });
      if (step.what === "move") await ask("PATCH", path, { url: `${receiver.url}/moved/${id}` });
      if (step.what === "rotate") await ask("POST", `${path}/rotate`);
      if (step.what === "unmake") await ask("DELETE", path);
      if (step.what === "test") await ask("POST", `${path}/test`);
      if (step.what === "redeliver") {
        const { body } = await ask("GET", `${path}/deliveries`);
        const delivery = some(body.data ?? [] as { id: string }[], step.n) as { id: string };
        if (delivery !== undefined) {
          await ask("POST", `${path}/deliveries/${delivery.id}/redeliver`);
        }
      }
    }
  }

  async #learn(): Promise<void> {
    for (const { id } of this.inboxes) {
      const { body } = await this.world.owner.ask("GET", `/v1/mail/inboxes/${id}/messages`);
      for (const { id } of body.data) if (!this.messages.includes(id)) this.messages.push(id);
    }
  }
}

async function all<T>(world: WebhookWorld, prefix: Deno.KvKey): Promise<Deno.KvEntry<T>[]> {
  return await Array.fromAsync(world.relay.deps.kv.list<T>({ prefix }));
}

/** Of the store as it is at one time: the relay works on while it is read. */
async function audit(world: WebhookWorld): Promise<void> {
  const stamp = async () =>
    (await all(world, [])).map(({ key, versionstamp }) => `${key.join("/")} ${versionstamp}`)
      .join();
  for (let before = await stamp();;) {
    const failure = await auditOnce(world).then(() => null, (error: unknown) => error);
    const after = await stamp();
    if (before !== after) before = after;
    else if (failure === null) return;
    else throw failure;
  }
}

async function auditOnce(world: WebhookWorld): Promise<void> {
  const { orgId } = world.owner;
  const { kv } = world.relay.deps;
  const webhooks = (await all<WebhookRecord>(world, webhookKey.under(orgId))).map((row) =>
    row.value
  );
  const { value: org } = await kv.get<OrgRecord>(orgKey(orgId));
  const byId = <T extends { id: string }>(some: readonly T[]) =>
    some.toSorted((a, b) => a.id < b.id ? -1 : 1);
  assert.deepEqual(byId(org!.webhooks ?? []), byId(webhooks.map(filterOf)), "who hears");

  const queued = (await all<OutgoingRow<DeliveryPayload>>(world, outgoingKey.under()))
    .filter(({ value }) => value.kind === DELIVERY_KIND).map(({ value }) => value.payload);
  for (const { id, pending, single, epoch, sequence } of webhooks) {
    const own = queued.filter((row) => row.webhookId === id);
    const waits = own.filter((row) => !row.isSingle && row.epoch === epoch).length;
    assert.equal(pending, waits, "what waits for a webhook");
    assert.equal(single, own.filter(({ isSingle }) => isSingle).length, "what waits once");
    const log = (await all(world, attemptKey.under(orgId, id))).map(({ key }) => key.at(-1));
    assert.deepEqual(log, keptAttempts({ sequence }), "its log");
    assert.ok(log.length <= KEPT_ATTEMPTS);
  }
  const attempts = await all(world, attemptKey.under(orgId));
  const ids = new Set(webhooks.map(({ id }) => id));
  assert.ok(
    attempts.every(({ key }) => ids.has(key[2] as string)),
    "logs of webhooks that are there",
  );

  const objects = new Set<unknown>([
    ...(await rowsOf(world, "mail-message")).map((key) => key.at(-1)),
    ...(await rowsOf(world, "mail-draft")).map((key) => key.at(-1)),
  ]);
  const events = await all<EventRow>(world, eventKey.under(orgId));
  const sent = new Set<unknown>(
    (await all<{ draftId?: string }>(world, ["mail-message"])).map(({ value }) => value.draftId),
  );
  for (const { key } of events) {
    assert.ok(objects.has(key[3] as string) || sent.has(key[3]), "events tell of what is there");
  }
  const ended = new Set((await rowsOf(world, "mail-event-end")).map((key) => key.at(-1)));
  const made = events.filter(({ value }) => value.body !== null).map(({ key }) => key.at(-1));
  // Where the clock was set back, an end may be brought back that its erasure does not find.
  assert.deepEqual(made.filter((id) => !ended.has(id)), [], "events with a body have an end");
  await auditStorage(kv);
}

Deno.test("webhooks, what waits for them, their logs and events agree after every step of any history", async () => {
  const told = { taken: 0, steps: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      using kv = await openMemoryKv();
      await using world = await startWebhookWorld({
        relay: { capacity: KV_CONNECT_CAPACITY },
        config: { sharedStore: true },
        deps: { kv: createFakeKv({ kv, maxChecks: KV_CONNECT_CAPACITY.checks }) },
        limits: { mailRecipientsPerOrgFirstDay: 1_000 },
      });
      const history = new History(world);
      for (let n = 0; n < 2; n++) history.inboxes.push(await world.owner.inbox());
      await history.take({ what: "make", events: 0, one: false });
      for (const one of steps) {
        await history.take(one);
        await audit(world);
        told.steps++;
      }
      world.receiver.answer = () => new Response();
      await settle(world);
      for (let n = 0; n < 12; n++) {
        world.relay.clock.advance(DAY_MS + 1);
        await settle(world);
      }
      await audit(world);
      assert.deepEqual(await waiting(world), []);
      const bodies = new Map<string, string>();
      for (const { headers, text } of world.receiver.taken) {
        const id = headers["webhook-id"]!;
        assert.equal(bodies.get(id) ?? text, text, "an event has the same bytes each time");
        bodies.set(id, text);
      }
      told.taken += world.receiver.taken.length;
    }),
    propertyRuns(10, false),
  );
  assert.ok(told.taken > 100, JSON.stringify(told));
});
