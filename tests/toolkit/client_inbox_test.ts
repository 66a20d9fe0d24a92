/** The client's inbox: every message once and in order, whatever happens; and what it proves. */
import assert from "node:assert/strict";
import type { ReceivedMessage } from "../../toolkit/client/inbox_reader.ts";
import type { RelayClient } from "../../toolkit/client/relay_client.ts";
import { generateKeyPair } from "../../toolkit/mod.ts";
import { TestAgent } from "../support/test_agent.ts";
import { type ClientWorld, type Fault, refusal, startClientWorld } from "./client_world.ts";

async function pair(world: ClientWorld) {
  const keys = { alice: generateKeyPair(), bob: generateKeyPair() };
  const alice = world.client({ keys: keys.alice });
  const bob = world.client({ keys: keys.bob });
  await alice.register({ handle: "alice" });
  await bob.register({ handle: "bob" });
  return { alice, bob, keys, sendRaw: new TestAgent(world.relay, keys.alice) };
}

async function sendNumbers(alice: RelayClient, to: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let n = 0; n < count; n++) ids.push((await alice.send({ to, body: n })).id);
  return ids;
}

/** As many messages as are asked for, from an inbox that does not end. */
async function take(
  messages: AsyncGenerator<ReceivedMessage, void>,
  count: number,
): Promise<ReceivedMessage[]> {
  const taken: ReceivedMessage[] = [];
  for await (const one of messages) {
    taken.push(one);
    if (taken.length === count) break;
  }
  return taken;
}

const idsOf = (received: ReceivedMessage[]) => received.map(({ message }) => message.id);

function polls(world: ClientWorld): string[] {
  return world.seen.map(({ target }) => target).filter((target) => target.startsWith("/v1/inbox"));
}

Deno.test("inbox() gives every message once and in order under faults of every kind", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const ids = await sendNumbers(alice, "bob", 23);
  const faults: Fault[] = [
    "refused",
    "dropped",
    "cut",
    "slow",
    refusal(429, "rate_limited", 700),
    refusal(503, "unavailable", 2_000),
    { status: 502, body: "<html>" },
  ];
  for (const fault of faults) world.faults.push(undefined, fault, fault);
  const received = await take(bob.inbox({ pageSize: 3 }), 23);
  assert.deepEqual(idsOf(received), ids);
  assert.deepEqual(received.map(({ message }) => message.body), [...Array(23).keys()]);
});

Deno.test("inbox() resumes after the message whose id it is given", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const ids = await sendNumbers(alice, "bob", 7);
  const first = idsOf(await take(bob.inbox({ pageSize: 5 }), 3));
  const rest = await Array.fromAsync(bob.inbox({ since: first.at(-1)!, follow: false }));
  assert.deepEqual([...first, ...idsOf(rest)], ids);
});

Deno.test("inbox() reads to the end where pages end by their bytes", async () => {
  await using world = await startClientWorld({ limits: { pageBytes: 200_000 } });
  const { alice, bob } = await pair(world);
  const ids: number[] = [];
  for (let n = 0; n < 7; n++) {
    ids.push((await alice.send({ to: "bob", body: `${n}`.padEnd(60_000, "x") })).id);
  }
  const all = await Array.fromAsync(bob.inbox({ follow: false }));
  assert.deepEqual(idsOf(all), ids);
});

Deno.test("inbox() waits at the relay for the next message and keeps to the poll floor", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const inbox = bob.inbox();
  await sendNumbers(alice, "bob", 2);
  const started = world.relay.clock.now();
  assert.deepEqual((await take(inbox, 2)).map(({ message }) => message.body), [0, 1]);
  assert.equal(world.relay.clock.now(), started, "the first poll waits for nothing");

  const all = take(bob.inbox(), 3);
  await new Promise<void>((resolve) => {
    world.alter = (_, text) => (resolve(), text);
  });
  await sendNumbers(alice, "bob", 1);
  assert.equal((await all).length, 3);
  assert.ok(polls(world).every((target) => target.endsWith("limit=50&wait=25")), "each waits");
  assert.ok(world.relay.clock.now() - started >= 2_000);
});

Deno.test("inbox() without following ends with the last page and does not wait", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const ids = await sendNumbers(alice, "bob", 4);
  assert.deepEqual(idsOf(await Array.fromAsync(bob.inbox({ follow: false, pageSize: 2 }))), ids);
  assert.deepEqual(polls(world), [
    "/v1/inbox?since_id=0&limit=2",
    `/v1/inbox?since_id=${ids[1]}&limit=2`,
    `/v1/inbox?since_id=${ids[3]}&limit=2`,
  ]);
  const unread = await Array.fromAsync(bob.inbox({ follow: false, unread: true }));
  assert.deepEqual(unread, []);
});

Deno.test("inbox() without following goes on after a page that ended for its bytes", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const big = "x".repeat(40_000);
  const ids: number[] = [];
  for (let n = 0; n < 5; n++) ids.push((await alice.send({ to: "bob", body: `${n}${big}` })).id);
  world.alter = (target, text) => {
    if (!target.startsWith("/v1/inbox")) return text;
    const messages = JSON.parse(text).messages.slice(0, 2);
    const asked = Number(/since_id=(\d+)/.exec(target)![1]);
    return JSON.stringify({ messages, last_id: messages.at(-1)?.id ?? asked });
  };
  assert.deepEqual(idsOf(await Array.fromAsync(bob.inbox({ follow: false }))), ids);
  assert.equal(polls(world).length, 3, "the last page is small, and so the last one");
});

Deno.test("inbox() survives a relay that is away for hours", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const [id] = await sendNumbers(alice, "bob", 1);
  const before = world.relay.clock.now();
  world.faults.push(...Array<Fault>(1_000).fill("refused"));
  assert.deepEqual(idsOf(await take(bob.inbox(), 1)), [id]);
  assert.ok(world.relay.clock.now() - before > 3_600_000);
});

Deno.test("inbox() ends with a refusal that will not pass", async () => {
  await using world = await startClientWorld();
  await assert.rejects(take(world.client().inbox(), 1), { code: "unknown_agent", status: 401 });
});

Deno.test("inbox() ends with the signal's reason while the relay waits", async () => {
  await using world = await startClientWorld();
  const { bob } = await pair(world);
  const abort = new AbortController();
  const reason = new Error("enough");
  const client = world.client({
    keys: generateKeyPair(),
    fetch: (_input, init) => {
      setTimeout(() => abort.abort(reason), 0);
      return new Promise((_, reject) =>
        init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason))
      );
    },
  });
  await assert.rejects(take(client.inbox({ signal: abort.signal }), 1), reason);
  await assert.rejects(take(bob.inbox({ signal: AbortSignal.abort(reason) }), 1), reason);
});

Deno.test("inbox() binds what others signed, by its names or by the raw request", async () => {
  await using world = await startClientWorld();
  const { bob, sendRaw, keys } = await pair(world);
  const { word_name } = await bob.whoami();
  await sendRaw.sent({ to: keys.bob.address, body: "by key" });
  await sendRaw.sent({ to: word_name, body: "by word name" });
  await sendRaw.sent({ to: "@bob", body: "by handle" });
  await sendRaw.sent(`{ "to": "bob", "body": "with spaces" }`);
  await sendRaw.sent(`{ "to": "${keys.bob.address}", "body": "spaces again" }`);
  world.seen.length = 0;
  const received = await Array.fromAsync(bob.inbox({ follow: false }));
  assert.deepEqual(received.map(({ report }) => [report!.body, report!.addressee]), [
    ["bound", "key"],
    ["bound", "word-name"],
    ["bound", "handle"],
    ["bound", "handle"],
    ["bound", "key"],
  ]);
  assert.deepEqual(world.seen.map(({ target }) => target), [
    "/v1/inbox?since_id=0&limit=50",
    "/v1/whoami",
    `/v1/messages/${received[3]!.message.id}/signed-request`,
    `/v1/messages/${received[4]!.message.id}/signed-request`,
  ]);
  const raw = await bob.signedRequest(received[3]!.message.id);
  assert.equal(new TextDecoder().decode(raw), `{ "to": "bob", "body": "with spaces" }`);
});

Deno.test("inbox() reports what a relay altered, and does not hide the message", async () => {
  await using world = await startClientWorld();
  const { alice, bob, keys } = await pair(world);
  await alice.send({ to: "bob", body: { text: "pay 10" } });
  const verdicts = async (change: (text: string) => string, client = bob) => {
    world.alter = (target, text) => target.startsWith("/v1/inbox") ? change(text) : text;
    const [one] = await Array.fromAsync(client.inbox({ follow: false }));
    const { signature, contentHash, body, sender } = one!.report!;
    return [signature, contentHash, body, sender];
  };
  const pinning = (address: string) => world.client({ keys: keys.bob, pins: { alice: address } });
  assert.deepEqual(await verdicts((text) => text), ["valid", "match", "bound", "not-pinned"]);
  assert.deepEqual(await verdicts((text) => text.replace("pay 10", "pay 99")), [
    "valid",
    "mismatch",
    "unbound",
    "not-pinned",
  ]);
  assert.deepEqual(
    await verdicts((text) => text.replace(keys.alice.address, keys.bob.address)),
    ["invalid", "match", "bound", "not-pinned"],
  );
  assert.deepEqual(await verdicts((text) => text, pinning(keys.alice.address)), [
    "valid",
    "match",
    "bound",
    "pinned",
  ]);
  assert.deepEqual(await verdicts((text) => text, pinning(keys.bob.address)), [
    "valid",
    "match",
    "bound",
    "mismatch",
  ]);
  for (const spelling of ["ALICE", "@alice"]) {
    const misspelled = (text: string) =>
      text.replace('"from_handle":"alice"', `"from_handle":"${spelling}"`);
    const [, , , sender] = await verdicts(misspelled, pinning(keys.bob.address));
    assert.equal(sender, "mismatch", "no spelling gets around a pin");
  }
});

Deno.test("inbox() leaves a body unbound when the relay has no request for it", async () => {
  await using world = await startClientWorld();
  const { bob, sendRaw } = await pair(world);
  await sendRaw.sent(`{ "to": "bob", "body": 1 }`);
  world.faults.push(undefined, undefined, refusal(404, "not_found"));
  const [one] = await Array.fromAsync(bob.inbox({ follow: false }));
  assert.equal(one!.report!.body, "unbound");
});

Deno.test("inbox() without verification asks for nothing but pages", async () => {
  await using world = await startClientWorld();
  const { bob, sendRaw } = await pair(world);
  await sendRaw.sent(`{ "to": "bob", "body": 1 }`);
  world.seen.length = 0;
  const [one] = await Array.fromAsync(bob.inbox({ follow: false, verify: false }));
  assert.deepEqual([one!.report, one!.message.body], [null, 1]);
  assert.equal(world.seen.length, 1);
});

Deno.test("inbox() judges the age of a message where a skew is allowed", async () => {
  await using world = await startClientWorld();
  const { bob, sendRaw } = await pair(world);
  const timestamp = world.relay.clock.seconds() - 200;
  await sendRaw.send({ to: "bob", body: 1 }, { timestamp });
  const within = async (maxSkewSeconds: number) =>
    (await Array.fromAsync(bob.inbox({ follow: false, maxSkewSeconds })))[0]!.report!.age.within;
  assert.deepEqual([await within(199), await within(200)], [false, true]);
});

Deno.test("inbox() refuses pages that would lead nowhere or are none", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const [first, second] = await sendNumbers(alice, "bob", 2);
  const changes: ((text: string) => string)[] = [
    (text) => text.replace(`"id":${second}`, `"id":${first}`),
    (text) => text.replace(`"last_id":${second}`, `"last_id":${first}`),
    (text) => text.replace(`"last_id":${second}`, `"last_id":1.5`),
    (text) => text.replaceAll(`"id":${first}`, `"id":0`),
    (text) => text.replace('"content_type":"text"', '"content_type":"html"'),
    (text) => text.replace('"from"', '"form"'),
    (text) => text.replace('"id"', '"id":1,"id"'),
    (text) => text.replace('"created_at":"', '"created_at":"x'),
    (text) => text.slice(0, -1),
    () => "[]",
  ];
  for (const change of changes) {
    world.alter = (_, text) => change(text);
    await assert.rejects(
      Array.fromAsync(bob.inbox({ follow: false })),
      { name: "AnswerError", code: "malformed_answer" },
      String(change),
    );
  }
});
