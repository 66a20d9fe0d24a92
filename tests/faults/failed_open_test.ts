/** A relay whose start fails half-way: what was open is closed, the writer slot given back. */
import assert from "node:assert/strict";
import { openMemoryKv, rawOf } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";

/** The store, with every list of one prefix failing. */
function storeFailingAt(kv: Deno.Kv, prefix: string, failing: () => Promise<void>): Deno.Kv {
  return new Proxy(rawOf(kv), {
    get(target, name) {
      if (name !== "list") {
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async function* (selector: { prefix?: Deno.KvKey }, options: Deno.KvListOptions) {
        if (selector.prefix?.[0] === prefix) {
          await failing();
          throw new TypeError("disk I/O error");
        }
        yield* target.list(selector as Deno.KvListSelector, options);
      };
    },
  });
}

async function heldSlots(kv: Deno.Kv): Promise<number> {
  const rows = await Array.fromAsync(kv.list({ prefix: ["slot"] }));
  return rows.filter(({ key }) => key[2] === "owner" || key[2] === "lease").length;
}

for (const [part, prefix] of [["custody", "custody-key"], ["outgoing", "outgoing-dead"]] as const) {
  Deno.test(`openRelay() gives its writer slot back where the part ${part} does not open`, async () => {
    using kv = await openMemoryKv();
    let heldBefore = 0;
    const failing = storeFailingAt(kv, prefix, async () => {
      heldBefore = await heldSlots(kv);
    });
    const options = { config: { sharedStore: true } };
    await assert.rejects(
      startTestRelay({ ...options, deps: { kv: failing } }),
      { cause: new TypeError("disk I/O error") },
    );
    assert.equal(heldBefore, 2);
    assert.equal(await heldSlots(kv), 0);
    await using _relay = await startTestRelay({ ...options, deps: { kv } });
    assert.equal(await heldSlots(kv), 2);
  });
}
