import assert from "node:assert/strict";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import type { MessageRow } from "./message_row.ts";
import { RecentMessages } from "./recent_messages.ts";

const BOUNDS = { bytes: 100_000, messagesAnInbox: 50, messageBytes: 1_000 };
const ALICE = 1;
const BOB = 2;

function rowOf(sizeBytes = 10, pieces = 0): MessageRow {
  return {
    senderId: 9,
    createdAtMs: 0,
    contentHash: "",
    bodyAt: 0,
    bodySizeBytes: 0,
    request: { rawPieces: 0 },
    json: new Uint8Array(sizeBytes),
    pieces,
  };
}

/** Messages that follow one another. */
function addAll(recent: RecentMessages, recipientId: number, ids: number[], previousId = 0): void {
  for (const id of ids) {
    recent.add(recipientId, previousId, id, rowOf());
    previousId = id;
  }
}

function idsFrom(recent: RecentMessages, recipientId: number, firstId: number, headId: number) {
  return recent.from(recipientId, firstId, headId)?.map(({ id }) => id) ?? null;
}

Deno.test("RecentMessages.from() gives the end of an inbox, and null where it may be more than that", () => {
  const recent = new RecentMessages(BOUNDS);
  assert.equal(idsFrom(recent, ALICE, 1, 0), null);
  addAll(recent, ALICE, [30, 40, 50], 20);
  assert.deepEqual(idsFrom(recent, ALICE, 21, 50), [30, 40, 50]);
  assert.deepEqual(idsFrom(recent, ALICE, 31, 50), [40, 50]);
  assert.deepEqual(idsFrom(recent, ALICE, 40, 40), [40, 50]);
  assert.deepEqual(idsFrom(recent, ALICE, 51, 50), []);
  assert.equal(idsFrom(recent, ALICE, 20, 50), null, "20 is not here");
  assert.equal(idsFrom(recent, ALICE, 21, 60), null, "60 was committed elsewhere");
  assert.equal(idsFrom(recent, BOB, 21, 50), null);
});

Deno.test("RecentMessages begins anew with a message that does not follow the last one", () => {
  const recent = new RecentMessages(BOUNDS);
  addAll(recent, ALICE, [1, 2]);
  addAll(recent, ALICE, [5], 4);
  assert.equal(idsFrom(recent, ALICE, 1, 5), null);
  assert.deepEqual(idsFrom(recent, ALICE, 5, 5), [5]);
  assert.equal(recent.find(ALICE, 2), undefined);
  addAll(recent, ALICE, [3], 2); // learnt late: another one has followed it already
  assert.equal(idsFrom(recent, ALICE, 3, 5), null);
});

Deno.test("RecentMessages keeps no large message, and nothing from before one", () => {
  for (const large of [rowOf(BOUNDS.messageBytes + 1), rowOf(10, 1)]) {
    const recent = new RecentMessages(BOUNDS);
    addAll(recent, ALICE, [1, 2]);
    recent.add(ALICE, 2, 3, large);
    assert.equal(idsFrom(recent, ALICE, 3, 3), null);
    assert.equal(recent.sizeBytes, 0);
    addAll(recent, ALICE, [4], 3);
    assert.deepEqual(idsFrom(recent, ALICE, 4, 4), [4]);
    assert.equal(idsFrom(recent, ALICE, 3, 4), null);
  }
});

Deno.test("RecentMessages.find() gives a message to its own inbox alone", () => {
  const recent = new RecentMessages(BOUNDS);
  addAll(recent, ALICE, [7]);
  assert.equal(recent.find(ALICE, 7)?.id, 7);
  assert.equal(recent.find(BOB, 7), undefined);
  assert.equal(recent.find(ALICE, 8), undefined);
});

Deno.test("RecentMessages lets the oldest of a full inbox go, and the oldest of all when memory is full", () => {
  const byInbox = new RecentMessages({ ...BOUNDS, messagesAnInbox: 2 });
  addAll(byInbox, ALICE, [1, 2, 3]);
  assert.deepEqual(idsFrom(byInbox, ALICE, 2, 3), [2, 3]);
  assert.equal(idsFrom(byInbox, ALICE, 1, 3), null);

  const one = new RecentMessages(BOUNDS);
  addAll(one, ALICE, [1]);
  const byBytes = new RecentMessages({ ...BOUNDS, bytes: 3 * one.sizeBytes });
  addAll(byBytes, ALICE, [1, 2]);
  addAll(byBytes, BOB, [3, 4]);
  assert.equal(byBytes.sizeBytes, 3 * one.sizeBytes);
  assert.equal(idsFrom(byBytes, ALICE, 1, 2), null);
  assert.deepEqual(idsFrom(byBytes, ALICE, 2, 2), [2]);
  assert.deepEqual(idsFrom(byBytes, BOB, 3, 4), [3, 4]);
});

Deno.test("RecentMessages gives what the inboxes hold, or null, and stays within its bounds", () => {
  const arrival = fc.record({
    recipient: fc.constantFrom(ALICE, BOB, 3),
    sizeBytes: fc.constantFrom(10, 10, 10, 300, 1_001),
    /** Committed by another process. */
    elsewhere: fc.constantFrom(false, false, false, false, true),
  });
  const bounds = { bytes: 10_000, messagesAnInbox: 5, messageBytes: 1_000 };
  let hits = 0;
  fc.assert(fc.property(fc.array(arrival, { minLength: 10, maxLength: 60 }), (arrivals) => {
    const recent = new RecentMessages(bounds);
    const inboxes = new Map<number, number[]>([[ALICE, []], [BOB, []], [3, []]]);
    let kept = 0;
    for (const [index, { recipient, sizeBytes, elsewhere }] of arrivals.entries()) {
      const inbox = inboxes.get(recipient)!;
      if (!elsewhere) recent.add(recipient, inbox.at(-1) ?? 0, index + 1, rowOf(sizeBytes));
      inbox.push(index + 1);
      assert.ok(recent.sizeBytes <= bounds.bytes);
      for (const [owner, ids] of inboxes) {
        for (let first = 1; first <= index + 2; first++) {
          const found = idsFrom(recent, owner, first, ids.at(-1) ?? 0);
          if (found === null) continue;
          hits++;
          kept = Math.max(kept, found.length);
          assert.deepEqual(found, ids.filter((id) => id >= first));
        }
      }
      assert.ok(kept <= bounds.messagesAnInbox);
    }
  }));
  assert.ok(hits > 1_000, `${hits} answers from memory`);
});

Deno.test("RecentMessages.purge() forgets what a sender sent below an id, without a gap, for good", () => {
  const recent = new RecentMessages(BOUNDS);
  const by = (senderId: number) => ({ ...rowOf(), senderId });
  for (const [id, senderId] of [[10, 7], [20, 8], [30, 7], [40, 8], [50, 7]] as const) {
    recent.add(ALICE, id - 10, id, by(senderId));
  }
  recent.add(BOB, 0, 35, by(7));
  recent.purge(7, 41);
  assert.deepEqual(idsFrom(recent, ALICE, 1, 50), [20, 40, 50]);
  assert.equal(recent.find(ALICE, 30), undefined);
  assert.equal(idsFrom(recent, BOB, 1, 35), null);
  // A commit that is announced late leaves no gap either.
  recent.add(ALICE, 50, 60, by(8));
  recent.purge(8, 70);
  recent.add(ALICE, 60, 65, by(8));
  recent.add(ALICE, 65, 80, by(8));
  assert.deepEqual(idsFrom(recent, ALICE, 1, 80), [50, 80]);
  recent.purge(7, 90);
  recent.purge(8, 90);
  assert.equal(idsFrom(recent, ALICE, 1, 80), null);
  assert.equal(recent.sizeBytes, 0);
});
