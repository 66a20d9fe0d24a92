import assert from "node:assert/strict";
import { agentListEntry, type ListingRow } from "./listing.ts";
import { Recency } from "./recency.ts";
import { SearchIndex, type SearchPage } from "./search_index.ts";
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
  const recency = new Recency();
  const index = new SearchIndex(recency);
  for (const one of listings) index.put(one);
  for (const [agentId, seenMs] of Object.entries(seen)) recency.touch(Number(agentId), seenMs);
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
  unit: fc.constantFrom("a", "b", "c", "A", "É", " ", "-", "ß", "İ", "🦊", "\n"),
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
    const index = indexOf(all.map(({ row }) => row), {});
    const seen = new Map<number, number>();
    const recency = (index as unknown as { recency: Recency }).recency;
    for (const { row, seenMs, listed } of all) {
      if (seenMs > 0) seen.set(row.id, seenMs);
      recency.touch(row.id, seenMs);
      if (!listed) index.remove(row.id);
    }
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
  // Every agent has all pieces of the words, and one in 5,000 has the words themselves.
  const many = Array.from(
    { length: 60_000 },
    (_, i) =>
      listing(i + 1, {
        description: i % 5_000 === 7 ? "blue whales sing" : "blue bananas, ue whales, es sing",
      }),
  );
  const seen = new Map(many.filter(({ id }) => id % 3 > 0).map(({ id }) => [id, 1 + id % 50]));
  const index = indexOf(many, Object.fromEntries(seen));
  for (const order of ["activity", "newest"] as const) {
    for (const [offset, limit] of [[0, 20], [3, 5]] as const) {
      const asked = { text: "blue whales sing", tags: [] };
      const page: SearchPage = { order, offset, limit };
      assert.deepEqual(await index.search(asked, page), slowSearch(many, seen, asked, page));
    }
  }
  const later = index.search({ text: "blue whales sing", tags: [] }, FIRST);
  index.put(listing(8, { description: "changed meanwhile" }));
  assert.ok(!handles(await later).includes("agent_8"));
});

Deno.test("SearchIndex.search() forgets what an agent said before", async () => {
  const index = indexOf([listing(1, { description: "sells horses", tags: ["trade"] })]);
  index.put(listing(1, { description: "reads poems" }));
  assert.deepEqual(await index.search({ text: "horses", tags: [] }, FIRST), []);
  assert.deepEqual(await index.search({ text: "", tags: ["trade"] }, FIRST), []);
  assert.deepEqual(handles(await index.search({ text: "poems", tags: [] }, FIRST)), ["agent_1"]);
  assert.equal(index.size, 1);
  index.remove(1);
  index.remove(1);
  assert.deepEqual(await index.search({ text: "poems", tags: [] }, FIRST), []);
  assert.equal(index.size, 0);
});

Deno.test("SearchIndex.search() matches within one field only", async () => {
  const index = indexOf([listing(1, { displayName: "left", description: "right" })]);
  for (const text of ["leftright", "left\u0000right", "\u0000", "otterleft"]) {
    assert.deepEqual(await index.search({ text, tags: [] }, FIRST), [], text);
  }
});
