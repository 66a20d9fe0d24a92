/** Stores of layouts 1 to 3, as exclusive relays of their times wrote them, go on under the present one. */
import assert from "node:assert/strict";
import { inKey, outKey } from "../../server/messaging/mailboxes/agent_mailboxes.ts";
import { LAYOUT_VERSION } from "../../server/base/storage/rows/layout.ts";
import { keyPairFromHex } from "../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { journalNumbers } from "../support/journal.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { readFixture, repeatRequest, restoreFixture } from "../support/stored_fixture.ts";
import { TestAgent } from "../support/test_agent.ts";

const FORMER = [1, 2, 3].map((layout) => ({
  layout,
  fixture: new URL(`./layout_${layout}.json`, import.meta.url),
}));
const CASES = FORMER.flatMap((one) => [{ ...one, shared: false }, { ...one, shared: true }]);
const WINDOW_MS = 301_000;

for (const { layout, fixture, shared } of CASES) {
  const store = shared ? "a shared store" : "an exclusive store";

  Deno.test(`signatures of a store of layout ${layout} count once as long as they pass, on ${store}`, async () => {
    using kv = await openMemoryKv();
    const former = await readFixture(fixture);
    await restoreFixture(kv, former);
    const clockStartMs = former.savedAtMs + 60_000;
    await using relay = await startTestRelay({
      deps: { kv },
      config: { sharedStore: shared },
      clockStartMs,
    });
    assert.deepEqual((await kv.get(["meta", "layout"])).value, {
      version: shared ? layout : LAYOUT_VERSION,
    });
    assert.equal(shared ? (await journalNumbers(kv)).length : 0, 0);
    // Those of layout 3 stood in its journal alone.
    const records = [inKey(1), inKey(2), outKey(1), outKey(2)];
    const heads = (await kv.getMany<{ head: number }[]>(records)).map(({ value }) => value!.head);
    const [one, two, three] = [182786457600000, 182786539520000, 182786539520256];
    assert.deepEqual(heads, [three, one, three, two]);

    const sends = former.requests.filter(({ method }) => method === "POST");
    assert.equal(sends.length, 3);
    for (const request of sends) {
      const repeated = await repeatRequest(relay, request);
      assertStatus(repeated, 201);
      assert.equal(repeated.text, request.answer);
      assert.equal(repeated.headers.get("idempotent-replayed"), "true");
    }
    const [change] = former.requests.filter(({ method }) => method === "PATCH");
    assertStatus(await repeatRequest(relay, change!), 200);

    const [alice, bob] = ["01", "02"].map((byte) => {
      const agent = new TestAgent(relay, keyPairFromHex(byte.repeat(32)));
      agent.handle = byte === "01" ? "alice" : "bob";
      return agent;
    });
    await alice!.sent({ to: "bob", body: "new" });
    const bodies = async (agent: TestAgent) => (await agent.inbox()).map(({ body }) => body);
    assert.deepEqual(await bodies(bob!), ["one", "new"]);
    assert.deepEqual(await bodies(alice!), [{ two: 2 }, "three"]);

    relay.clock.advance(WINDOW_MS);
    for (const request of sends) {
      assertRefused(await repeatRequest(relay, request), "timestamp_out_of_range");
    }
    // What the journal holds is in the records' rows where the next relay reads them.
    await relay.stop();
    assert.deepEqual(await journalNumbers(kv), []);
    await using later = await startTestRelay({ deps: { kv }, clockStartMs: relay.clock.now() });
    await alice!.at(later).sent({ to: "bob", body: "later" });
    const unread = await bob!.at(later).poll("unread=true");
    assert.deepEqual(unread.json.messages.map(({ body }: { body: string }) => body), ["later"]);
  });
}
