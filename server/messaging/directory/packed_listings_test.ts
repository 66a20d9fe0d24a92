import assert from "node:assert/strict";
import fc from "../../../tests/support/seeded_fast_check.ts";
import type { ListingRow } from "./listing.ts";
import { PackedListings } from "./packed_listings.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

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
    createdAtMs: 1_780_000_000_000 + id,
    ...fields,
  };
}

function lowered({ handle, wordName, displayName, description }: ListingRow): string {
  return [handle, wordName, displayName, description].map((field) => field.toLowerCase())
    .join("\u0000");
}

Deno.test("PackedListings.read() gives what was last put, whatever was replaced, removed and moved", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "B", "É", "İ", "🦊", " ", "\n") });
  const change = fc.record({
    id: fc.integer({ min: 1, max: 30 }),
    displayName: text,
    // Some of them large, so that chunks fill up.
    description: fc.tuple(text, fc.nat(4)).map(([one, n]) => one + "word ".repeat(n * 800)),
    tags: fc.uniqueArray(fc.constantFrom("x", "y-1", "z"), { maxLength: 3 }),
    stays: fc.boolean(),
  });
  fc.assert(fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
    const packed = new PackedListings();
    const known = new Map<number, ListingRow>();
    for (const { id, stays, ...fields } of changes) {
      if (stays) {
        const one = listing(id, fields);
        packed.put(one, lowered(one));
        known.set(id, one);
      } else {
        packed.remove(id);
        known.delete(id);
      }
    }
    assert.equal(packed.size, known.size);
    for (let id = 0; id <= 31; id++) {
      assert.equal(packed.has(id), known.has(id));
      if (known.has(id)) assert.deepEqual(packed.read(id), known.get(id));
    }
  }));
});

Deno.test("PackedListings takes at most twice what its listings take, after any number of changes", () => {
  const packed = new PackedListings();
  const put = (id: number, round: number) => {
    const one = listing(id, { description: `${round} `.repeat(100) });
    packed.put(one, lowered(one));
  };
  for (let id = 1; id <= 5_000; id++) put(id, 10);
  const once = packed.sizeBytes;
  for (let round = 11; round < 40; round++) {
    for (let id = 1; id <= 5_000; id++) if (id * 7 % round < 9) put(id, round);
    assert.ok(packed.sizeBytes <= 2 * once + 2 * 256 * 1024, `${packed.sizeBytes} of ${once}`);
  }
  for (let id = 1; id <= 5_000; id++) packed.remove(id);
  assert.ok(packed.sizeBytes <= 256 * 1024);
  assert.equal(packed.size, 0);
});

Deno.test("PackedListings.matches() compares in lower case, by whole letters and whole tags", () => {
  const packed = new PackedListings();
  const one = listing(1, { displayName: "Straße ÉTÉ", description: "K İx", tags: ["ab", "c"] });
  packed.put(one, lowered(one));
  const two = listing(2, { displayName: "Plain ASCII" });
  packed.put(two, lowered(two));
  const finds = (id: number, text: string, ...tags: string[]) =>
    packed.matches(id, bytes(text), tags.map((tag) => bytes(`,${tag},`)));
  for (const text of ["", "straße", "été", "k", "i̇x", "agent_1", "otter"]) {
    assert.ok(finds(1, text), text);
  }
  for (const text of ["É", "strasse", "otterstr", "agent_2"]) assert.ok(!finds(1, text), text);
  assert.ok(finds(2, "plain ascii") && finds(2, "n a") && !finds(2, "plain ascii "));
  assert.ok(
    finds(1, "", "ab", "c") && !finds(1, "", "a") && !finds(1, "", "b") && !finds(2, "", "ab"),
  );
  assert.ok(!finds(3, ""));
  assert.ok(packed.hasHandle(1, bytes("agent_1")));
  for (const handle of ["agent_", "agent_11", "gent_1"]) {
    assert.ok(!packed.hasHandle(1, bytes(handle)), handle);
  }
});

Deno.test("PackedListings.put() refuses what no profile may hold, and keeps what it had", () => {
  const packed = new PackedListings();
  const one = listing(1);
  packed.put(one, lowered(one));
  const large = listing(1, { description: "x".repeat(40_000) });
  assert.throws(() => packed.put(large, lowered(large)), RangeError);
  assert.deepEqual(packed.read(1), one);
});
