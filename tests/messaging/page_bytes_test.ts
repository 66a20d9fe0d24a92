/** Pages of inbox and outbox end by their bytes, and the store is read little beyond them. */
import assert from "node:assert/strict";
import { assertStatus } from "../support/answer.ts";
import { countReads } from "../support/count_reads.ts";
import { openMemoryKv } from "../support/read_through.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../support/relay.ts";
import { registerAgents, type TestAgent } from "../support/test_agent.ts";

const FORGETFUL = { recentMessages: { bytes: 0, messagesAnInbox: 0, messageBytes: 0 } };
const LARGE = 65_000;

interface Row {
  id: number;
  delivered_at?: string | null;
}

const sizeOf = (rows: readonly Row[]) =>
  rows.reduce((sum, row) => sum + new TextEncoder().encode(JSON.stringify(row)).length, 0);

async function sendBodies(from: TestAgent, to: string, sizes: readonly number[]) {
  const ids: number[] = [];
  for (const [i, size] of sizes.entries()) {
    ids.push(await from.sent({ to, body: `${i}`.padEnd(size, "x") }));
  }
  return ids;
}

/** All pages of a mailbox, following last_id. */
async function pagesOf(relay: TestRelay, agent: TestAgent, path: string, query: string) {
  const pages: Row[][] = [];
  for (let since = 0;;) {
    relay.clock.advance(2000);
    const answer = await agent.call("GET", path, { query: `${query}&since_id=${since}` });
    assertStatus(answer, 200);
    const { messages, last_id } = answer.json;
    assert.equal(last_id, messages.at(-1)?.id ?? since);
    if (messages.length === 0) return pages;
    pages.push(messages);
    since = last_id;
  }
}

function assertCut(pages: readonly Row[][], pageBytes: number): void {
  for (const [n, page] of pages.entries()) {
    assert.ok(sizeOf(page) <= pageBytes || page.length === 1, `page ${n} of ${sizeOf(page)} bytes`);
    const next = pages[n + 1]?.[0];
    if (next !== undefined) assert.ok(sizeOf([...page, next]) > pageBytes, `page ${n} is short`);
  }
}

const STORES: { name: string; options: TestRelayOptions }[] = [
  { name: "from memory", options: {} },
  { name: "from the store", options: { relay: FORGETFUL } },
  { name: "on a shared store", options: { relay: FORGETFUL, config: { sharedStore: true } } },
];

for (const { name, options } of STORES) {
  Deno.test(`pages of inbox and outbox end by pageBytes, ${name}`, async () => {
    const limits = { pageBytes: 100_000, sendsPerAgentPerMinute: 1000 };
    await using relay = await startTestRelay({ ...options, limits });
    const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
    const sizes = [LARGE, 100, 30_000, 200, LARGE, LARGE, ...Array(60).fill(3_000), LARGE, 10];
    const ids = await sendBodies(alice, "bob_1", sizes);
    for (
      const [agent, path, query] of [
        [bob, "/v1/inbox", "limit=200"],
        [bob, "/v1/inbox", "limit=200&unread=false"],
        [alice, "/v1/outbox", "limit=200"],
      ] as const
    ) {
      const pages = await pagesOf(relay, agent, path, query);
      assert.deepEqual(pages.flat().map(({ id }) => id), ids, path);
      assert.ok(pages.length > 3);
      assertCut(pages, limits.pageBytes);
    }
    // The limit still ends pages that the bytes do not.
    const answer = await alice.call("GET", "/v1/outbox", { query: `limit=5&since_id=${ids[5]}` });
    assert.deepEqual(answer.json.messages.map(({ id }: Row) => id), ids.slice(6, 11));
  });
}

Deno.test("a page stamps its own rows only, and unread pages end by bytes too", async () => {
  const limits = { pageBytes: 100_000 };
  await using relay = await startTestRelay({ limits, relay: FORGETFUL });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const ids = await sendBodies(alice, "bob_1", Array(7).fill(40_000));
  const delivered = async () =>
    (await pagesOf(relay, alice, "/v1/outbox", "limit=200")).flat()
      .flatMap(({ id, delivered_at }) => delivered_at === null ? [] : [id]);
  assert.equal((await bob.inbox("limit=200")).length, 2);
  assert.deepEqual(await delivered(), ids.slice(0, 2));
  // One in the middle is read by itself: the unread pages pass over it.
  await bob.inbox(`since_id=${ids[2]}&limit=1`);
  assert.deepEqual((await bob.inbox("unread=true")).map(({ id }) => id), [ids[2], ids[4]]);
  assert.deepEqual((await bob.inbox("unread=true")).map(({ id }) => id), [ids[5], ids[6]]);
  assert.deepEqual(await delivered(), ids);
  assert.deepEqual(await bob.inbox("unread=true"), []);
});

Deno.test("a row larger than pageBytes is a page of its own, nothing is a page of nothing", async () => {
  await using relay = await startTestRelay({ limits: { pageBytes: 0 } });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  assert.deepEqual(await bob.inbox(), []);
  const ids = await sendBodies(alice, "bob_1", [10, 20, 30]);
  for (const [agent, path] of [[bob, "/v1/inbox"], [alice, "/v1/outbox"]] as const) {
    const pages = await pagesOf(relay, agent, path, "limit=200");
    assert.deepEqual(pages.map((page) => page.map(({ id }) => id)), ids.map((id) => [id]));
  }
});

Deno.test("pages read little more of the store than they give, HEAD reads no row", async () => {
  using kv = await openMemoryKv();
  const reading = countReads(kv);
  await using relay = await startTestRelay({
    deps: { kv: reading.kv },
    relay: FORGETFUL,
    limits: { sendsPerAgentPerMinute: 1000, pageBytes: 10 * LARGE },
  });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const ids = await sendBodies(alice, "bob_1", Array(60).fill(LARGE));
  for (const [agent, path] of [[bob, "/v1/inbox"], [alice, "/v1/outbox"]] as const) {
    await agent.call("HEAD", path); // what is kept in memory is read by now
    reading.takeCounts();
    for (const query of ["limit=200", "unread=true&limit=200"]) {
      const head = await agent.call("HEAD", path, { query });
      assertStatus(head, 200);
      assert.deepEqual(reading.takeCounts(), {}, `HEAD ${path}`);
    }
    relay.clock.advance(2000);
    const answer = await agent.call("GET", path, { query: "limit=200" });
    assert.equal(answer.json.messages.length, 9);
    const { inbox = 0, piece = 0 } = reading.takeCounts();
    assert.ok(inbox <= 20 && piece <= 20, `${path} read ${inbox} rows and ${piece} pieces`);
  }
  const signed = `/v1/messages/${ids[0]}/signed-request`;
  assertStatus(await bob.call("HEAD", signed), 200);
  assert.deepEqual(reading.takeCounts(), {});
});
