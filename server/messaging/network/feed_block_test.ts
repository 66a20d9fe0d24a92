import assert from "node:assert/strict";
import {
  BLOCK_SPAN,
  decodeBlock,
  encodeBlock,
  type FeedEvent,
  feedEventOf,
  MAX_BLOCK_EVENTS,
  newestSentMs,
  packEvents,
} from "./feed_block.ts";
import fc from "../../../tests/support/seeded_fast_check.ts";

const eventOf = (id: number): FeedEvent => ({
  id,
  senderId: 1,
  recipientId: 2,
  senderHandle: "alice",
  recipientHandle: "bob_1",
  createdAtMs: id * 2,
});

Deno.test("packEvents() puts every event into one block, within its span and size", () => {
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 4 * BLOCK_SPAN }), { maxLength: 700 });
  fc.assert(fc.property(ids, (given) => {
    const blocks = packEvents(given.map(eventOf));
    const packed = [...blocks.values()].flat().map(({ id }) => id).sort((a, b) => a - b);
    assert.deepEqual(packed, given.toSorted((a, b) => a - b));
    for (const [blockId, events] of blocks) {
      assert.ok(events.length <= MAX_BLOCK_EVENTS);
      assert.equal(Math.max(...events.map(({ id }) => id)), blockId);
      for (const { id } of events) assert.ok(blockId - id <= BLOCK_SPAN);
    }
  }));
});

Deno.test("packEvents() makes one block of what one group commit sends", () => {
  const ids = Array.from({ length: 128 }, (_, i) => 1e12 + 256 * i);
  assert.equal(packEvents(ids.map(eventOf)).size, 1);
});

Deno.test("decodeBlock() gives what encodeBlock() was given, by ascending id", () => {
  const events = [30, 10, 20].map(eventOf);
  assert.deepEqual(decodeBlock(encodeBlock(events)), [10, 20, 30].map(eventOf));
  assert.equal(newestSentMs(events), 60);
  assert.deepEqual(decodeBlock(encodeBlock([])), []);
});

Deno.test("feedEventOf() has no event for test traffic", () => {
  const send = {
    id: 1,
    createdAtMs: 2,
    sender: { id: 3, handle: "alice" },
    recipient: { id: 4, handle: "qa_bob" },
  };
  assert.equal(feedEventOf(send), null);
  assert.deepEqual(feedEventOf({ ...send, recipient: { id: 4, handle: "bob_1" } }), {
    id: 1,
    senderId: 3,
    recipientId: 4,
    senderHandle: "alice",
    recipientHandle: "bob_1",
    createdAtMs: 2,
  });
});
