import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { outgoingKey, type OutgoingRow } from "../../base/outgoing/outgoing_row.ts";
import { KV_CONNECT_CAPACITY } from "../../base/storage/rows/store.ts";
import { valueSizeBytes } from "../../base/storage/rows/stored_size.ts";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { webhookFilter } from "../../../tests/support/raised_events.ts";
import {
  EVENT_TYPES,
  eventKey,
  type EventPayload,
  type EventRow,
  type EventType,
} from "../records/event_record.ts";
import type { DraftRow } from "../records/draft_record.ts";
import type { MessageRow } from "../records/message_record.ts";
import { newOrg } from "../records/org_record.ts";
import type { ThreadRow } from "../records/thread_record.ts";
import { hearersOf, stageEvent } from "./stage_event.ts";

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));
const ulid = "01KT1GW6G0Z5JDF62N1KAAK2WK";
const [orgId, inboxId, threadId] = [`org_${ulid}`, `ibx_${ulid}`, `thr_${ulid}`];
/** What a store takes two bytes a unit for. */
const wide = (units: number) => "\u4e2d".repeat(units);

/** One that knows as many and as long people as there can be. */
const THREAD: ThreadRow = {
  v: 1,
  id: threadId,
  orgId,
  inboxId,
  subject: "\u{1f600}".repeat(998),
  participants: Array.from({ length: 50 }, () => ({
    name: wide(200),
    address: `${wide(64)}@${"d".repeat(255)}`,
  })),
  messageCount: 1,
  unreadCount: 1,
  lastMessageId: `msg_${ulid}`,
  preview: "\u{1f600}".repeat(200),
  lastMessageAtMs: 1,
  createdAtMs: 1,
};

/** A row as large as recipient_changes.ts lets one become: of all that it holds the size alone matters. */
function largest<T extends MessageRow | DraftRow>(fields: Partial<T>): T {
  const row = { v: 1, orgId, inboxId, subject: "", ...fields } as unknown as T;
  return { ...row, subject: wide((60_000 - valueSizeBytes(row)) / 2) };
}

for (const capacity of [undefined, KV_CONNECT_CAPACITY]) {
  Deno.test(`the largest message, thread and draft fit the rows of two events beside the message (capacity: ${capacity?.checks})`, async () => {
    using kv = await openMemoryKv();
    const storage = await openTestStorage(kv, {
      exclusive: capacity === undefined,
      ...(capacity === undefined ? {} : { capacity }),
    });
    const message = largest<MessageRow>({ id: `msg_${ulid}` });
    const draft = largest<DraftRow>({ id: `dft_${ulid}` });
    const webhooks = Array.from({ length: 20 }, () => webhookFilter());
    const org = newOrg(orgId, 1, { webhooks });
    const bytes = (value: unknown) => valueSizeBytes(value);
    assert.ok(bytes(message) > 59_990 && bytes(THREAD) > 59_990, String(bytes(THREAD)));
    const ids = await storage.commits.submit((transaction) => {
      transaction.set(["message"], message);
      const raise = (type: EventType, more: { recipient?: number }, above: string | null) =>
        stageEvent(transaction, org, type, { message, thread: THREAD, ...more }, random, above)!;
      const first = raise("message.sent", {}, null);
      const second = raise("message.bounced", { recipient: 49 }, first);
      const third = stageEvent(transaction, org, "draft.sent", { draft, message }, random, second)!;
      return [first, second, third];
    });
    assert.deepEqual(ids.toSorted(), ids);
    const expected = [{ thread: THREAD }, { thread: THREAD, recipient: 49 }, { draft }];
    for (const [i, id] of ids.entries()) {
      const { value: row } = await kv.get<EventRow>(eventKey(orgId, inboxId, message.id, id));
      assert.deepEqual(row!.subject, message);
      const { value } = await kv.get<OutgoingRow<EventPayload>>(outgoingKey(id));
      assert.deepEqual(value!.payload.beside, expected[i]);
      assert.deepEqual(value!.payload.webhookIds, webhooks.map((one) => one.id));
      // As a process holds it, and puts it back: what is longest of either.
      const held = { ...value!, lease: "x".repeat(40), lastReason: "r".repeat(200), dueSetAtMs: 1 };
      await kv.set(outgoingKey(id), held);
      assert.equal((await kv.get<OutgoingRow>(outgoingKey(id))).value!.lease, held.lease);
    }
    await storage.close();
  });
}

Deno.test("hearersOf() goes by type, inbox and whether a webhook is active, in their order", () => {
  const filters = [
    webhookFilter({ events: ["draft.sent"] }),
    webhookFilter({ inboxIds: ["ibx_other"] }),
    webhookFilter({ isActive: false }),
    webhookFilter({ inboxIds: ["ibx_other", inboxId], events: ["message.sent", "draft.sent"] }),
    webhookFilter(),
  ];
  const heard = (type: EventType, inbox: string) =>
    hearersOf({ webhooks: filters }, type, inbox).map((id) =>
      filters.findIndex((one) => one.id === id)
    );
  assert.deepEqual(heard("draft.sent", inboxId), [0, 3, 4]);
  assert.deepEqual(heard("message.sent", inboxId), [3, 4]);
  assert.deepEqual(heard("message.sent", "ibx_other"), [1, 3, 4]);
  for (const type of EVENT_TYPES) assert.deepEqual(hearersOf({}, type, inboxId), []);
});
