/** How many pages one agent may hold, and how untaken answers end. */
import assert from "node:assert/strict";
import { serve } from "../../server/process/serve.ts";
import { assertRefused, assertStatus } from "../support/answer.ts";
import { openMemoryKv, rawOf } from "../support/read_through.ts";
import { startTestRelay } from "../support/relay.ts";
import { registerAgents } from "../support/test_agent.ts";
import { assertToolRefused, callTool } from "../support/tool_client.ts";

/** A store whose lists of outboxes wait until they are released. */
function holdOutboxes(given: Deno.Kv) {
  const kv = rawOf(given);
  const gate = Promise.withResolvers<void>();
  const reached: (() => void)[] = [];
  async function* list(selector: Deno.KvListSelector, options?: Deno.KvListOptions) {
    if ("prefix" in selector && selector.prefix[0] === "outbox") {
      reached.shift()?.();
      await gate.promise;
    }
    yield* kv.list(selector, options);
  }
  return {
    kv: new Proxy(kv, {
      get(target, name) {
        if (name === "list") return list;
        const member = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    }),
    nextRead: () => new Promise<void>((resolve) => void reached.push(resolve)),
    release: () => gate.resolve(),
  };
}

Deno.test("an agent has four pages in hand, inbox, outbox, signed requests and check_inbox together", async () => {
  using kv = await openMemoryKv();
  const store = holdOutboxes(kv);
  await using relay = await startTestRelay({
    deps: { kv: store.kv },
    limits: { inboxPollIntervalMs: 0 },
  });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const id = await bob.sent({ to: "alice", body: "x" });
  const held = [];
  for (let i = 0; i < 4; i++) {
    const read = store.nextRead();
    held.push(alice.call("GET", "/v1/outbox"));
    await read;
  }
  const signed = `/v1/messages/${id}/signed-request`;
  for (const path of ["/v1/outbox", "/v1/inbox", "/v1/inbox?wait=1", signed]) {
    const [fixed, query] = path.split("?");
    const answer = await alice.call("GET", fixed!, { query });
    assertRefused(answer, "unavailable", /at most 4 pages of one agent/);
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get("retry-after"), "1");
  }
  const tool = await callTool(relay.url, "check_inbox", { token: alice.ownerToken });
  assertToolRefused(tool, "unavailable");
  // Nothing was stamped, and no refused poll counts.
  assert.deepEqual(
    (await kv.get<{ deliveredAtMs: null }>(["outbox", 2, id])).value!.deliveredAtMs,
    null,
  );
  // What gives no page is none: HEAD, an empty inbox, a poll that waits, and what others read.
  for (const path of ["/v1/outbox", "/v1/inbox", signed]) {
    assertStatus(await alice.call("HEAD", path), 200);
  }
  assertStatus(await alice.poll(`since_id=${id}`), 200);
  assertStatus(await bob.call("GET", signed), 200);
  store.release();
  for (const answer of await Promise.all(held)) assertStatus(answer, 200);
  assert.deepEqual((await alice.poll()).json.messages.length, 1);
  assertStatus(await alice.call("GET", "/v1/outbox"), 200);
});

Deno.test("polls that wait are no pages in hand: all are woken, and answer what came", async () => {
  await using relay = await startTestRelay({
    limits: { inboxPollIntervalMs: 0, pagesInHandPerAgent: 1 },
    clockStartMs: "real",
  });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const arrived = relay.nextRequests();
  const waiting = alice.poll("wait=25");
  await arrived;
  assertStatus(await alice.call("GET", "/v1/outbox"), 200);
  await bob.sent({ to: "alice", body: "x" });
  assert.equal((await waiting).json.messages.length, 1);
  // The waiting poll has given back what it had.
  assertStatus(await alice.poll(), 200);
});

Deno.test("a page that a peer does not take is held in hand, then given up and its connection closed", async () => {
  const idle = { nowMs: 0, tick: () => {} };
  await using relay = await startTestRelay({
    limits: {
      inboxPollIntervalMs: 0,
      pagesInHandPerAgent: 1,
      pageBytes: 16 * 1024 * 1024,
      sendsPerAgentPerMinute: 1000,
    },
    relay: {
      answers: {
        now: () => idle.nowMs,
        startTicker(tick) {
          idle.tick = tick;
          return () => {};
        },
      },
    },
  });
  const [alice, bob] = await registerAgents(relay, "alice", "bob_1");
  const body = "x".repeat(65_000);
  // More than what the system itself takes for a peer that reads nothing.
  for (let i = 0; i < 200; i++) await bob.sent({ to: "alice", body: `${i}${body}` });
  const log = () => {};
  const serving = serve({ ...relay.relay, close: async () => {} }, {
    host: "127.0.0.1",
    port: 0,
    log,
  });
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: serving.port });
  try {
    const headers = Object.entries(alice.sign("GET", "/v1/inbox"))
      .map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await connection.write(
      new TextEncoder().encode(`GET /v1/inbox?limit=200 HTTP/1.1\r\nHost: x\r\n${headers}\r\n`),
    );
    const chunk = new Uint8Array(1024 * 1024);
    const first = (await connection.read(chunk))!;
    const head = new TextDecoder().decode(chunk.subarray(0, first));
    assert.match(head, /^HTTP\/1.1 200 OK\r\n/);
    const length = Number(/content-length: (\d+)/i.exec(head)![1]);
    assert.ok(length > 200 * 65_000);
    assertRefused(await alice.poll(), "unavailable");
    idle.nowMs += 29_999;
    idle.tick();
    assertRefused(await alice.poll(), "unavailable");
    idle.nowMs += 30_000;
    idle.tick();
    // Its place and its bytes are free, and what the system still holds is not the whole answer.
    assert.equal((await alice.poll("limit=1")).status, 200);
    let received = first;
    for (;;) {
      const size = await connection.read(chunk).catch(() => null);
      if (size === null) break;
      received += size;
    }
    assert.ok(received < length, `${received} of ${length} bytes came`);
    // The page was stamped before its first byte went out, as an answer lost on the way is.
    assert.deepEqual(await alice.inbox("unread=true"), []);
  } finally {
    connection.close();
    await serving.stop();
  }
});
