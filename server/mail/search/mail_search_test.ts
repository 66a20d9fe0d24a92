import { storeOn } from "../../../tests/support/store_on.ts";
import assert from "node:assert/strict";
import type { BlobRef } from "../../base/blobs/blobs.ts";
import { BlobDamaged } from "../../base/blobs/blobs.ts";
import { leastMailId } from "../records/mail_id.ts";
import { HEAD, messageKey, type MessageRow } from "../records/message_record.ts";
import { MailSearch, type SearchBounds, type SearchPage } from "./mail_search.ts";
import { termsOf } from "./search_terms.ts";

const START_MS = Date.UTC(2026, 0, 1);
const BOUNDS: SearchBounds = {
  messages: 2_000,
  lookMs: 2_000,
  perOrg: 2,
  atOneTime: 2,
  waiting: 8,
};
const PAGE: SearchPage<string> = {
  limit: 50,
  maxBytes: 1e6,
  sizeOf: () => 1,
  make: ({ row }) => row.id,
};

function makeRow(inboxId: string, minute: number): MessageRow {
  const createdAtMs = START_MS + minute * 60_000;
  const id = leastMailId("msg", createdAtMs);
  const section = { sizeBytes: 100, sha256: "" };
  const blob: BlobRef = { name: ["org", inboxId, id], sections: [section, section, section] };
  return {
    ...{ v: 1, id, orgId: "org", inboxId, threadId: "thr", direction: "inbound", envelope: null },
    ...{ auth: null, bcc: [], recipients: [], sendAtMs: null, cancelledAtMs: null, labels: [] },
    ...{ read: false, createdAtMs, blob, repeatKey: null, from: null, replyTo: [], to: [], cc: [] },
    ...{ subject: `minute ${minute}`, preview: "", signature: null, textSource: "plain" },
    ...{ attachments: [] },
    ...{ rfcMessageId: null, inReplyTo: null, references: [], automated: "none" },
    ...{ signature: null, hiddenTextRemoved: false, parseWarnings: [], codes: [] },
  };
}

/** Searches over inboxes of messages a minute apart, in slices; each read of a text takes readMs. */
async function openWorld({ count, readMs = 0, bounds = BOUNDS, text = "hello there" }: {
  count: number;
  readMs?: number;
  bounds?: SearchBounds;
  text?: string | null;
}) {
  const kv = await Deno.openKv(":memory:");
  const inboxIds = ["ibx_a", "ibx_b"];
  const ids: string[] = [];
  for (let minute = 0; minute < count; minute++) {
    const row = makeRow(inboxIds[minute % 2]!, minute);
    await kv.set(messageKey("org", row.inboxId, row.id), row);
    ids.unshift(row.id);
  }
  let nowMs = 0;
  const search = new MailSearch({
    store: storeOn(kv),
    now: () => nowMs,
    bounds,
    blobs: {
      read(ref, section) {
        nowMs += readMs;
        assert.equal(section, HEAD);
        if (text === null) throw new BlobDamaged(ref.name, "missing");
        const head = { text, extracted_text: text, truncated: false };
        return Promise.resolve(new TextEncoder().encode(JSON.stringify(head)));
      },
    },
  });
  const find = (q: string, position: string | null = null, page = PAGE) =>
    search.find("org", { terms: termsOf(q), inboxIds, position }, page);
  return { ids, find, search, inboxIds, [Symbol.dispose]: () => kv.close() };
}

Deno.test("MailSearch merges inboxes, the newest first, and goes on where a page ended", async () => {
  using world = await openWorld({ count: 60 });
  const whole = await world.find("hello", null, { ...PAGE, limit: 100 });
  assert.deepEqual(whole, { rows: world.ids, next: null, isPartial: false });
  const seen: string[] = [];
  for (let position: string | null = null;;) {
    const { rows, next } = await world.find("hello", position, { ...PAGE, limit: 7 });
    seen.push(...rows);
    if (next === null) break;
    position = next;
  }
  assert.deepEqual(seen, world.ids);
  const byBytes = await world.find("hello", null, { ...PAGE, maxBytes: 3 });
  assert.deepEqual(byBytes.rows, world.ids.slice(0, 3));
  assert.equal(byBytes.next, world.ids[2]);
});

Deno.test("MailSearch stops after so many messages, says so, and goes on behind them", async () => {
  using world = await openWorld({ count: 25, bounds: { ...BOUNDS, messages: 10 } });
  const first = await world.find('"minute 3"');
  assert.deepEqual(first, { rows: [], next: world.ids[9], isPartial: true });
  const second = await world.find('"minute 3"', first.next);
  assert.deepEqual(second, { rows: [], next: world.ids[19], isPartial: true });
  const third = await world.find('"minute 3"', second.next);
  assert.deepEqual(third, { rows: [world.ids[21]], next: null, isPartial: false });
});

Deno.test("MailSearch stops after its time, having looked at one message at least", async () => {
  using world = await openWorld({ count: 20, readMs: 900 });
  let position: string | null = null;
  let looks = 0;
  for (; looks < 50; looks++) {
    const { next, isPartial } = await world.find("nothing", position);
    if (next === null) break;
    assert.ok(isPartial && next !== position);
    position = next;
  }
  assert.ok(looks > 1 && looks < 21, `${looks}`);
});

Deno.test("MailSearch goes on without texts that are damaged", async () => {
  using world = await openWorld({ count: 4, text: null });
  assert.equal((await world.find("minute")).rows.length, 4);
  assert.equal((await world.find("hello")).rows.length, 0);
});

Deno.test("MailSearch lets an org have few searches under way", async () => {
  using world = await openWorld({ count: 30 });
  const asked = { terms: termsOf("hello"), inboxIds: world.inboxIds, position: null };
  const three = [1, 2, 3].map(() => world.search.find("org", asked, PAGE));
  const ends = await Promise.allSettled(three);
  assert.deepEqual(ends.map(({ status }) => status), ["fulfilled", "fulfilled", "rejected"]);
  await assert.rejects(three[2]!, { code: "unavailable" });
  assert.equal((await world.find("hello")).rows.length, 30);
});
