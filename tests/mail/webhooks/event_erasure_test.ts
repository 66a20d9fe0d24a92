/** Events go with what they tell of: messages, drafts, inboxes, orgs; and nothing else does. */
import assert from "node:assert/strict";
import { blobKey } from "../../../server/base/blobs/blob_rows.ts";
import { storageKey, type StorageRecord } from "../../../server/base/blobs/stored_bytes.ts";
import { makeUlid } from "../../../server/base/storage/rows/ulid.ts";
import { DAY_MS, HOUR_MS } from "../../../server/base/time/time_units.ts";
import { erasedEventKey } from "../../../server/mail/core/erase_events.ts";
import { eventKey, type EventRow } from "../../../server/mail/records/event_record.ts";
import { LETTER, newDraft } from "../../support/draft_world.ts";
import { handInEvents } from "../../support/inbound_mail.ts";
import { accepted } from "../../support/mail_caller.ts";
import { auditStorage } from "../../support/mailbox_audit.ts";
import { delay } from "../../support/pace.ts";
import { putWebhooks, storedEvents, webhookFilter } from "../../support/raised_events.ts";
import { deliver, send } from "../../support/sending_org.ts";
import { type EventWorld, startEventWorld } from "./event_world.ts";

const BODY_BYTES = 1_000;
const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

/** Has the store hold events whose bodies were made. @returns their ids */
async function putMadeEvents(
  { kv, relay, owner: { orgId } }: EventWorld,
  inboxId: string,
  objectId: string,
  count: number,
): Promise<string[]> {
  const nowMs = relay.clock.now();
  const ids = [];
  for (let i = 0; i < count; i++) {
    const eventId = `evt_${makeUlid(nowMs, random)}`;
    const name = [orgId, inboxId, makeUlid(nowMs, random)];
    const sections = [{ sizeBytes: BODY_BYTES, sha256: "a".repeat(43) }];
    const row: EventRow = {
      v: 1,
      type: "message.sent",
      createdAtMs: nowMs,
      subject: null,
      body: { name, sections },
    };
    await kv.set(eventKey(orgId, inboxId, objectId, eventId), row);
    await kv.set(blobKey(...name), { v: 1, sizeBytes: BODY_BYTES });
    ids.push(eventId);
  }
  const key = storageKey(orgId);
  const { value } = await kv.get<StorageRecord>(key);
  await kv.set(key, { ...value!, bytes: value!.bytes + count * BODY_BYTES });
  return ids;
}

async function erasedIds({ kv, owner: { orgId } }: EventWorld): Promise<string[]> {
  const rows = await Array.fromAsync(kv.list({ prefix: erasedEventKey.under(orgId) }));
  return rows.map(({ key }) => String(key[2])).sort();
}

/** Asserts that the bytes of what was dropped go when their time has come, and no others. */
async function assertSwept(world: EventWorld, blobsLeft: number): Promise<void> {
  const { relay, kv } = world;
  relay.clock.advance(2 * HOUR_MS);
  for (let i = 0; i < 300; i++) {
    await relay.relay.crons["figures"]!();
    await relay.relay.crons["blobs"]?.();
    if ((await auditStorage(kv)).length === blobsLeft) return;
    await delay(10);
  }
  assert.equal((await auditStorage(kv)).length, blobsLeft);
}

const countBlobs = async ({ kv }: EventWorld) =>
  (await Array.fromAsync(kv.list({ prefix: blobKey.under() }))).length;

Deno.test("DELETE message: its events go with their bodies, however many, and those of the draft that it was", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const draft = await newDraft(owner, inbox.id, {
    ...LETTER,
    labels: Array.from({ length: 20 }, (_, i) => `label-${i}`.padEnd(32, "x")),
  });
  const sent = accepted(
    await owner.ask("POST", `/v1/mail/drafts/${draft.id}/send`, { body: {} }),
    202,
  );
  const other = accepted(await send(owner, inbox, {}), 202);
  await deliver(relay);
  const named = (await storedEvents(kv)).map(({ type, key }) => `${type} ${String(key[3])}`);
  assert.deepEqual(
    named.sort(),
    [
      `draft.created ${draft.id}`,
      `draft.sent ${sent.id}`,
      `message.sent ${other.id}`,
      `message.sent ${sent.id}`,
    ].sort(),
  );
  await putWebhooks(kv, owner.orgId); // who hears what later is no matter
  const left = await putMadeEvents(world, inbox.id, other.id, 3);
  const made = [
    ...await putMadeEvents(world, inbox.id, sent.id, 250),
    ...await putMadeEvents(world, inbox.id, draft.id, 3),
  ];
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${sent.id}`), 204);
  const objects = (await storedEvents(kv)).map(({ key }) => key[3]);
  assert.deepEqual(new Set(objects), new Set([other.id]));
  const erased = new Set(await erasedIds(world));
  assert.ok(made.every((id) => erased.has(id)));
  assert.ok(!left.some((id) => erased.has(id)));
  accepted(await owner.ask("DELETE", `/v1/mail/messages/${other.id}`), 204);
  assert.deepEqual(await storedEvents(kv), []);
  await assertSwept(world, 0);
});

Deno.test("a draft that is discarded takes its events along, one that is changed does not", async () => {
  await using world = await startEventWorld();
  const { kv, owner, inbox } = world;
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const [draft, other] = [
    await newDraft(owner, inbox.id, LETTER),
    await newDraft(owner, inbox.id, LETTER),
  ];
  const made = await putMadeEvents(world, inbox.id, draft.id, 1);
  const path = `/v1/mail/drafts/${draft.id}`;
  accepted(await owner.ask("PATCH", path, { body: { subject: "Other" } }), 200);
  assert.equal((await storedEvents(kv)).length, 3);
  accepted(await owner.ask("DELETE", path), 204);
  assert.deepEqual((await storedEvents(kv)).map(({ key }) => key[3]), [other.id]);
  assert.ok((await erasedIds(world)).includes(made[0]!));
});

Deno.test("retention_days takes the events of what is older", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  const path = `/v1/mail/inboxes/${inbox.id}`;
  accepted(await owner.ask("PATCH", path, { body: { retention_days: 1 } }), 200);
  await putWebhooks(kv, owner.orgId, webhookFilter());
  await world.receive(inbox.address);
  relay.clock.advance(DAY_MS - HOUR_MS);
  await world.receive(inbox.address);
  const [, young] = await storedEvents(kv);
  relay.clock.advance(2 * HOUR_MS);
  for (let i = 0; i < 200 && (await storedEvents(kv)).length > 1; i++) {
    await relay.relay.crons["figures"]!();
    await delay(10);
  }
  assert.deepEqual((await storedEvents(kv)).map(({ key }) => key), [young!.key]);
});

Deno.test("DELETE inbox, DELETE org: no event of theirs is left, made or not, and another inbox keeps its own", async () => {
  await using world = await startEventWorld();
  const { relay, kv, owner, inbox } = world;
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const other = await owner.inbox({ local_part: "bob" });
  for (const to of [inbox.address, other.address]) await world.receive(to);
  await newDraft(owner, inbox.id, LETTER);
  const made = await putMadeEvents(world, inbox.id, "msg_gone", 120);
  accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${inbox.id}`), 204);
  const until = async (isDone: () => Promise<boolean>) => {
    for (let i = 0; i < 300 && !(await isDone()); i++) {
      await relay.relay.crons["figures"]!();
      await delay(10);
    }
    assert.ok(await isDone());
  };
  await until(async () => (await storedEvents(kv, owner.orgId, inbox.id)).length === 0);
  assert.equal((await storedEvents(kv, owner.orgId, other.id)).length, 1);
  const erased = new Set(await erasedIds(world));
  assert.ok(made.every((id) => erased.has(id)));
  await putMadeEvents(world, "", "wh_of_a_test", 1);
  accepted(await owner.deleteOrg(), 204);
  await until(async () => (await kv.get(["mail-org", owner.orgId])).value === null);
  assert.deepEqual(await storedEvents(kv), []);
  assert.deepEqual(await erasedIds(world), []);
  await until(async () => await countBlobs(world) === 0 || (relay.clock.advance(HOUR_MS), false));
});

Deno.test("of reports that race a deletion no event is left behind", async () => {
  await using world = await startEventWorld({
    limits: { mailRecipientsPerOrgFirstDay: 1_000 },
  });
  const { relay, kv, owner, inbox } = world;
  await putWebhooks(kv, owner.orgId, webhookFilter());
  const to = Array.from({ length: 10 }, (_, i) => `reader${i}@example.org`);
  const outcomes = new Set<boolean>();
  for (let round = 0; round < 8; round++) {
    const sent = accepted(await send(owner, inbox, { to }), 202);
    await deliver(relay);
    const at = new Date(relay.clock.now()).toISOString();
    const tell = (recipient: string, i: number) =>
      handInEvents(
        relay,
        JSON.stringify({ events: [{ type: "delivered", message_id: sent.id, recipient, at }] }),
        { id: `evt_${round}_${i}` },
      );
    const discard = () => owner.ask("DELETE", `/v1/mail/messages/${sent.id}`);
    const early = round % 2 === 0 ? null : discard();
    const told = to.map(tell);
    if (early === null) await told[round % to.length];
    const deleted = early ?? discard();
    for (const answer of await Promise.all(told)) {
      outcomes.add(accepted(answer, 200).applied === 1);
    }
    accepted(await deleted, 204);
    assert.deepEqual(await storedEvents(kv, owner.orgId, inbox.id, sent.id), []);
  }
  assert.equal(outcomes.size, 2); // some came before it, some behind
});
