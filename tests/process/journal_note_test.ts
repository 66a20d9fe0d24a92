/** What a start says of a journal that the relay before has left. */
import assert from "node:assert/strict";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";

const journalNotes = (notes: readonly string[]) =>
  notes.filter((note) => /^\s*journal\b/.test(note));

for (const sharedStore of [false, true]) {
  const store = sharedStore ? "a shared store" : "its own store";

  Deno.test(`a start on ${store} tells how much of a journal it took in, and nothing without one`, async () => {
    using kv = await openMemoryKv();
    for (const number of [1, 2]) {
      await kv.set(["journal", number], { v: 1, attempt: null, records: [] });
    }
    const config = { sharedStore };
    {
      await using relay = await startTestRelay({ deps: { kv }, config });
      const [note, ...others] = journalNotes(relay.relay.startupNotes());
      assert.match(note!, /\b2 rows\b/);
      assert.deepEqual(others, []);
    }
    await using relay = await startTestRelay({ deps: { kv }, config });
    assert.deepEqual(journalNotes(relay.relay.startupNotes()), []);
  });
}
