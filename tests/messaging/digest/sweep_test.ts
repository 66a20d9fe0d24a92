import assert from "node:assert/strict";
import { KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { createFakeKv, NO_FAULTS } from "../../support/fake_kv.ts";
import { openMemoryKv, rawOf } from "../../support/read_through.ts";
import { startScriptedSmtp } from "../../support/scripted_smtp.ts";
import { startSmtpServer } from "../../support/smtp_server.ts";
import { MINUTE_MS, startDigestBench } from "./digest_bench.ts";

const READER = "reader@example.net";

Deno.test("a store that answers badly neither loses nor doubles a digest", async () => {
  await using smtp = await startSmtpServer();
  using kv = await openMemoryKv();
  const faults = { deniedSuccess: 0.15, lostAnswer: 0.1, locked: 0.1, repeated: 0.1 };
  const fake = createFakeKv({ kv, seed: 7, faults: {} });
  await using bench = await startDigestBench({
    smtpPort: smtp.port,
    relay: {
      config: { sharedStore: true },
      deps: { kv: fake },
      relay: { capacity: KV_CONNECT_CAPACITY },
    },
  });
  const handles = Array.from({ length: 12 }, (_, i) => `reader_${i}`);
  const alice = await bench.agent("alice");
  for (const handle of handles) await bench.agent(handle, `${handle}@example.net`);
  bench.relay.clock.advance(1_000);
  for (const to of handles) await alice.sent({ to, body: "hello" });
  const bad = createFakeKv({ kv, seed: 7, faults });
  Object.assign(fake, { atomic: bad.atomic });
  // A failed cron, a lost lease: the next ones make up for it.
  for (let i = 0; i < 24; i++) await bench.sweepAfter(5 * MINUTE_MS);
  Object.assign(bad.faults, NO_FAULTS); // it is not the shutdown's turn
  assert.ok(
    Object.values(bad.faultCounts).every((times) => times > 0),
    JSON.stringify(bad.faultCounts),
  );
  assert.deepEqual(
    smtp.received.map(({ to }) => to[0]).sort(),
    handles.map((handle) => `${handle}@example.net`).sort(),
  );
});

Deno.test("a sweep costs as much for many agents as for few, when as many are due", async () => {
  async function readsOfSweep(agents: number): Promise<number> {
    await using smtp = await startSmtpServer();
    const plain = await openMemoryKv();
    const { kv, reads } = countReads(plain);
    await using bench = await startDigestBench({ smtpPort: smtp.port, relay: { deps: { kv } } });
    for (let i = 0; i < agents; i++) await bench.agent(`idle_${i}`, `idle_${i}@example.net`);
    const bob = await bench.agent("bob", READER);
    bench.relay.clock.advance(1_000);
    await bob.sent({ to: "bob", body: "hello" });
    const before = reads();
    await bench.sweep();
    assert.equal(smtp.received.length, 1);
    const spent = reads() - before;
    await bench[Symbol.asyncDispose]();
    plain.close();
    return spent;
  }
  const few = await readsOfSweep(2);
  assert.ok(few > 0);
  assert.equal(await readsOfSweep(60), few);
});

Deno.test("a sweep reads one message of an agent whose digest has to wait, however many it has", async () => {
  await using smtp = await startSmtpServer();
  const plain = await openMemoryKv();
  const bodies = countReads(plain, ([kind]) => kind === "inbox");
  await using bench = await startDigestBench({
    smtpPort: smtp.port,
    relay: { deps: { kv: bodies.kv } },
  });
  const handles = ["first", "second", "third", "fourth", "waiting"];
  const agents = [];
  for (const handle of handles) agents.push(await bench.agent(handle, READER));
  bench.relay.clock.advance(1_000);
  for (const to of handles) await agents[0]!.sent({ to, body: "hello" });
  await bench.sweep();
  assert.equal(smtp.received.length, 4, "the share of the address is used up");
  bench.relay.clock.advance(6 * 60 * MINUTE_MS - 1);
  const body = "x".repeat(30_000); // too large to be kept in memory
  for (let i = 0; i < 20; i++) await agents[0]!.sent({ to: "waiting", body: body + i });
  const before = bodies.reads();
  await bench.sweep();
  assert.equal(smtp.received.length, 4, "it has to wait still");
  assert.equal(bodies.reads() - before, 1);
  await bench[Symbol.asyncDispose]();
  plain.close();
});

Deno.test("two hundred due digests are sent, each once, a few at a time", async () => {
  await using smtp = startScriptedSmtp();
  // A connection that is given up before its QUIT was read would be counted beside the next one.
  const timing = { quitMs: 60_000 };
  await using bench = await startDigestBench({ smtpPort: smtp.port, timing });
  const alice = await bench.agent("alice");
  const handles = Array.from({ length: 200 }, (_, i) => `reader_${i}`);
  for (const handle of handles) await bench.agent(handle, `${handle}@example.net`);
  bench.relay.clock.advance(1_000);
  for (const to of handles) await alice.sent({ to, body: "hello" });
  await bench.sweep();
  assert.equal(smtp.contents.length, handles.length);
  assert.ok(smtp.mostSessions() <= 8, String(smtp.mostSessions()));
});

/** A store that counts the rows it gives, of all keys or of some. */
function countReads(
  kv: Deno.Kv,
  counts: (key: Deno.KvKey) => boolean = () => true,
): { kv: Deno.Kv; reads: () => number } {
  let reads = 0;
  const counting = new Proxy(rawOf(kv), {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name === "list") {
        return async function* (...args: Parameters<Deno.Kv["list"]>) {
          for await (const row of target.list(...args)) {
            if (counts(row.key)) reads++;
            yield row;
          }
        };
      }
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const keys = name === "get" ? [args[0]] : name === "getMany" ? args[0] : [];
        reads += (keys as Deno.KvKey[]).filter(counts).length;
        return value.apply(target, args);
      };
    },
  });
  return { kv: counting, reads: () => reads };
}
