import assert from "node:assert/strict";
import { LastSeen } from "./last_seen.ts";
import { agentListEntry, type ListingRow } from "./listing.ts";
import { SearchIndex, type SearchPage } from "./search_index.ts";
import { SliceClock } from "../../base/slices/slice_clock.ts";
import type { SearchQuery } from "./search_query.ts";
import fc from "../../../tests/support/seeded_fast_check.ts";

const FIRST: SearchPage = { order: "activity", offset: 0, limit: 100 };

function listing(id: number, fields: Partial<ListingRow> = {}): ListingRow {
  return {
    v: 1,
    id,
    handle: `agent_${id}`,
    wordName: "calm-ivy-otter",
    address: "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
    displayName: "",
    description: "",
    tags: [],
    createdAtMs: 1_780_000_000_000,
    ...fields,
  };
}

function indexOf(listings: readonly ListingRow[], seen: Record<number, number> = {}): SearchIndex {
  const lastSeen = new LastSeen();
  const index = new SearchIndex(lastSeen);
  for (const one of listings) index.put(one);
  for (const [agentId, seenMs] of Object.entries(seen)) lastSeen.touch(Number(agentId), seenMs);
  return index;
}

const handles = (json: readonly string[]) => json.map((one) => JSON.parse(one).handle);

/** The rules of the specification (4.4), one agent at a time. */
function slowSearch(
  listings: readonly ListingRow[],
  seen: ReadonlyMap<number, number>,
  { text, tags }: SearchQuery,
  { order, offset, limit }: SearchPage,
): string[] {
  const rank = (one: ListingRow) => order === "activity" && one.handle === text ? 0 : 1;
  const time = (one: ListingRow) => order === "activity" ? seen.get(one.id) ?? 0 : 0;
  return listings
    .filter((one) => tags.every((tag) => one.tags.includes(tag)))
    .filter(({ handle, wordName, displayName, description }) =>
      [handle, wordName, displayName, description].some((field) =>
        field.toLowerCase().includes(text)
      )
    )
    .sort((a, b) => rank(a) - rank(b) || time(b) - time(a) || b.id - a.id)
    .slice(offset, offset + limit)
    .map((one) => JSON.stringify(agentListEntry(one)));
}

const text = fc.string({
  unit: fc.constantFrom("a", "b", "c", "A", "É", " ", "-", "ß", "İ", "Σ", "🦊", "\n"),
  maxLength: 8,
});
const tags = fc.uniqueArray(fc.constantFrom("x", "y", "z-1"), { maxLength: 3 });

Deno.test("SearchIndex.search() finds and orders as one comparison after another does", async () => {
  const world = fc.array(
    fc.record({
      displayName: text,
      description: text,
      tags,
      seenMs: fc.nat(5),
      listed: fc.boolean(),
    }),
    { maxLength: 60 },
  );
  const page = fc.record({
    order: fc.constantFrom("activity" as const, "newest" as const),
    offset: fc.nat(5),
    limit: fc.integer({ min: 1, max: 20 }),
  });
  const query = fc.record({
    text: fc.oneof(
      text.map((one) => one.toLowerCase()),
      fc.constantFrom("", "agent_3", "ivy", "qqq"),
    ),
    tags,
  });
  await fc.assert(fc.asyncProperty(world, query, page, async (agents, asked, shown) => {
    fc.pre(asked.text !== "" || asked.tags.length > 0);
    const all = agents.map((fields, i) => ({ ...fields, row: listing(i + 1, fields) }));
    const seen = new Map(
      all.filter((one) => one.seenMs > 0).map((one) => [one.row.id, one.seenMs]),
    );
    const index = indexOf(all.map(({ row }) => row), Object.fromEntries(seen));
    for (const { row, listed } of all) if (!listed) index.remove(row.id);
    const listedRows = all.filter(({ listed }) => listed).map(({ row }) => row);
    assert.deepEqual(await index.search(asked, shown), slowSearch(listedRows, seen, asked, shown));
  }));
});

Deno.test("SearchIndex.search() has the same order for few candidates and for many", async () => {
  const many = Array.from(
    { length: 3_000 },
    (_, i) =>
      listing(i + 1, { description: i % 2 === 0 ? "common words" : "common", tags: ["all"] }),
  );
  const seen = new Map(many.filter(({ id }) => id % 3 > 0).map(({ id }) => [id, 1 + id % 50]));
  const index = indexOf(many, Object.fromEntries(seen));
  for (const asked of [{ text: "common", tags: [] }, { text: "words", tags: ["all"] }]) {
    for (const offset of [0, 990, 2_100]) {
      const page: SearchPage = { order: "activity", offset, limit: 50 };
      assert.deepEqual(await index.search(asked, page), slowSearch(many, seen, asked, page));
    }
  }
  assert.deepEqual(
    handles(await index.search({ text: "agent_77", tags: [] }, { ...FIRST, limit: 1 })),
    [
      "agent_77",
    ],
  );
});

Deno.test("SearchIndex.search() finds the few that match among many that might, in both orders, and lets others work", async () => {
  // Every agent has all pieces of the words, and one in 500 has the words themselves.
  const many = Array.from(
    { length: 6_000 },
    (_, i) =>
      listing(i + 1, {
        description: i % 500 === 7 ? "blue whales sing" : "blue bananas, ue whales, es sing",
      }),
  );
  const seen = new Map(many.filter(({ id }) => id % 3 > 0).map(({ id }) => [id, 1 + id % 50]));
  const index = indexOf(many, Object.fromEntries(seen));
  const asked = { text: "blue whales sing", tags: [] };
  for (const order of ["activity", "newest"] as const) {
    for (const [offset, limit] of [[0, 20], [3, 5]] as const) {
      const page: SearchPage = { order, offset, limit };
      assert.deepEqual(await index.search(asked, page), slowSearch(many, seen, asked, page));
    }
  }
  let nowMs = 0;
  const later = index.search(asked, FIRST, new SliceClock(() => nowMs++));
  await Promise.resolve();
  index.put(listing(8, { description: "changed meanwhile" }));
  assert.equal((await later).length, 11);
  assert.ok(!handles(await later).includes("agent_8"));
});

Deno.test("SearchIndex.search() goes by the latest time an agent was seen, whenever it is told", async () => {
  const lastSeen = new LastSeen();
  const index = new SearchIndex(lastSeen);
  for (const id of [1, 2, 3, 9_000]) index.put(listing(id));
  lastSeen.touch(2, 50);
  lastSeen.touch(9_000, 40);
  lastSeen.touch(1, 60);
  lastSeen.touch(1, 45); // told late by another process
  assert.deepEqual(
    handles(await index.search({ text: "agent", tags: [] }, FIRST)),
    ["agent_1", "agent_2", "agent_9000", "agent_3"],
  );
  lastSeen.touch(3, 90);
  const page = { ...FIRST, limit: 1 };
  assert.deepEqual(handles(await index.search({ text: "agent", tags: [] }, page)), ["agent_3"]);
});

Deno.test("SearchIndex.search() forgets what an agent said before", async () => {
  const index = indexOf([listing(1, { description: "sells horses", tags: ["trade"] })]);
  index.put(listing(1, { description: "reads poems" }));
  assert.deepEqual(await index.search({ text: "horses", tags: [] }, FIRST), []);
  assert.deepEqual(await index.search({ text: "", tags: ["trade"] }, FIRST), []);
  assert.deepEqual(handles(await index.search({ text: "poems", tags: [] }, FIRST)), ["agent_1"]);
  index.remove(1);
  index.remove(1);
  assert.deepEqual(await index.search({ text: "poems", tags: [] }, FIRST), []);
});

Deno.test("SearchIndex.search() matches within one field only", async () => {
  const index = indexOf([listing(1, { displayName: "left", description: "right" })]);
  for (const text of ["leftright", "left\u0000right", "\u0000", "otterleft", "ven3", "178000"]) {
    assert.deepEqual(await index.search({ text, tags: [] }, FIRST), [], text);
  }
});

Deno.test("SearchIndex.search() takes whole tags, and none from a text", async () => {
  const index = indexOf([listing(1, { description: "a,b,c", tags: ["ab", "c"] })]);
  for (
    const [tags, count] of [[["ab", "c"], 1], [["a"], 0], [["b"], 0], [["c", "b"], 0]] as const
  ) {
    const found = await index.search({ text: "", tags: [...tags] }, FIRST);
    assert.equal(found.length, count, String(tags));
  }
});

Deno.test("SearchIndex.search() does not find half a letter", async () => {
  const index = indexOf([listing(1, { description: "🦊" })]);
  for (const [text, count] of [["🦊", 1], ["🦊".slice(0, 1), 0], ["🦊".slice(1), 0]] as const) {
    assert.equal((await index.search({ text, tags: [] }, FIRST)).length, count);
  }
});
