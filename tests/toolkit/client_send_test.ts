/** The client's sends under faults: nothing is lost, nothing is doubled. */
import assert from "node:assert/strict";
import { NetworkError } from "../../toolkit/client/network_error.ts";
import { RefusalError } from "../../toolkit/client/refusal_error.ts";
import type { RelayClient } from "../../toolkit/client/relay_client.ts";
import { canonicalJson, generateKeyPair } from "../../toolkit/mod.ts";
import { type ClientWorld, type Fault, refusal, startClientWorld } from "./client_world.ts";

const ALL_FAULTS: Fault[] = [
  "refused",
  "dropped",
  "cut",
  "slow",
  refusal(429, "rate_limited", 1_500),
  refusal(503, "unavailable", 3_000),
  refusal(500, "internal"),
  { status: 502, body: "<html>bad gateway</html>" },
  { status: 503, body: "" },
];

async function pair(world: ClientWorld) {
  const keys = { alice: generateKeyPair(), bob: generateKeyPair() };
  const alice = world.client({ keys: keys.alice });
  const bob = world.client({ keys: keys.bob });
  await alice.register({ handle: "alice" });
  await bob.register({ handle: "bob" });
  world.seen.length = 0;
  return { alice, bob, keys };
}

async function everything(client: RelayClient) {
  return await Array.fromAsync(client.inbox({ follow: false, pageSize: 200 }));
}

function sends(world: ClientWorld) {
  return world.seen.filter(({ method }) => method === "POST");
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(() => assert.fail("it must fail"), (thrown) => thrown);
}

Deno.test("send() signs RFC 8785 bytes with the recipient's key, which it looks up once", async () => {
  await using world = await startClientWorld();
  const { alice, bob, keys } = await pair(world);
  const first = await alice.send({ to: "@Bob", body: { text: "hello", subject: "x" } });
  await alice.send({ to: "bob", body: 1, in_reply_to: first.id, content_type: "json" });
  assert.deepEqual(world.seen.map(({ method, target }) => `${method} ${target}`), [
    "GET /v1/agents/bob",
    "POST /v1/messages",
    "POST /v1/messages",
  ]);
  const to = keys.bob.address;
  assert.equal(
    sends(world)[0]!.body,
    canonicalJson({ to, body: { text: "hello", subject: "x" } }),
  );
  assert.equal(
    sends(world)[1]!.body,
    canonicalJson({ to, body: "1", in_reply_to: first.id, content_type: "json" }),
  );
  assert.deepEqual([first.to, first.replayed], [to, false]);
  const received = await everything(bob);
  assert.deepEqual(received.map(({ message }) => message.body), [
    { subject: "x", text: "hello" },
    1,
  ]);
  for (const { report } of received) {
    assert.deepEqual([report!.signature, report!.contentHash], ["valid", "match"]);
    assert.deepEqual([report!.body, report!.addressee], ["bound", "key"]);
  }
});

for (const fault of ALL_FAULTS) {
  const name = typeof fault === "string" ? fault : `answered ${fault.status} by something else`;
  Deno.test(`send() repeats the same bytes and signature when it is ${name}`, async () => {
    await using world = await startClientWorld();
    const { alice, bob, keys } = await pair(world);
    world.faults.push(fault, fault);
    const sent = await alice.send({ to: keys.bob.address, body: "once" });
    const tries = sends(world);
    assert.equal(tries.length, 3);
    for (const { body, headers } of tries) {
      assert.equal(body, tries[0]!.body);
      for (const header of ["x-relay-timestamp", "x-relay-signature", "x-relay-pubkey"]) {
        assert.equal(headers.get(header), tries[0]!.headers.get(header));
      }
    }
    const isCarriedOut = fault === "dropped" || fault === "cut" || fault === "slow";
    assert.equal(sent.replayed, isCarriedOut);
    const received = await everything(bob);
    assert.deepEqual(received.map(({ message }) => message.id), [sent.id]);
  });
}

Deno.test("many sends under all faults at once lose and double nothing", async () => {
  await using world = await startClientWorld();
  const { alice, bob, keys } = await pair(world);
  const bodies = Array.from({ length: 50 }, (_, n) => ({ text: `message ${n % 25}` }));
  // Every fault stands at many places, between requests that go through.
  for (let n = 0; n < 120; n++) {
    world.faults.push(n % 3 === 0 ? undefined : ALL_FAULTS[n % ALL_FAULTS.length]);
  }
  for (const body of bodies) await alice.send({ to: keys.bob.address, body });
  world.faults.length = 0;
  const received = await everything(bob);
  assert.deepEqual(received.map(({ message }) => message.body), bodies);
  assert.equal(new Set(received.map(({ message }) => message.signature)).size, bodies.length);
});

Deno.test("send() makes equal messages of one second different messages", async () => {
  await using world = await startClientWorld();
  const { alice, bob, keys } = await pair(world);
  const message = { to: keys.bob.address, body: "again" };
  await Promise.all([1, 2, 3].map(() => alice.send(message)));
  const now = world.relay.clock.seconds();
  const timestamps = sends(world).map(({ headers }) => Number(headers.get("x-relay-timestamp")));
  assert.deepEqual(timestamps.sort(), [now, now + 1, now + 2]);
  assert.equal((await everything(bob)).length, 3);
});

Deno.test("send() waits as long as the relay's own limit says", async () => {
  await using world = await startClientWorld({ limits: { sendsPerAgentPerMinute: 3 } });
  const { alice, bob, keys } = await pair(world);
  const before = world.relay.clock.now();
  for (let n = 0; n < 4; n++) await alice.send({ to: keys.bob.address, body: n });
  assert.equal(world.relay.clock.now() - before, 60_000);
  assert.deepEqual(sends(world).length, 5, "one try more than messages");
  assert.equal((await everything(bob)).length, 4);
});

Deno.test("send() throws a refusal at once when the relay asks for more time than there is", async () => {
  await using world = await startClientWorld();
  const { alice, keys } = await pair(world);
  world.faults.push(refusal(429, "rate_limited", 60_001));
  const before = world.relay.clock.now();
  const thrown = await failureOf(alice.send({ to: keys.bob.address, body: 1 }));
  assert.ok(thrown instanceof RefusalError);
  assert.deepEqual([thrown.code, thrown.status, thrown.retryAfterMs], [
    "rate_limited",
    429,
    60_001,
  ]);
  assert.equal(world.relay.clock.now(), before);
});

Deno.test("send() does not repeat what will not pass", async () => {
  await using world = await startClientWorld();
  const { alice, keys } = await pair(world);
  const cases: [Fault, string][] = [
    [refusal(403, "recipient_banned"), "recipient_banned"],
    [refusal(400, "invalid_json"), "invalid_json"],
    [refusal(503, "mail_disabled"), "mail_disabled"],
    [{ status: 404, body: "<html>" }, "not_of_the_contract"],
    [{ status: 201, body: "<html>" }, "malformed_answer"],
    [{ status: 201, body: { id: 1, content_hash: "0", created_at: "" } }, "malformed_answer"],
    [{ status: 302, body: "", headers: { Location: "https://relay.example" } }, "redirected"],
  ];
  for (const [fault, code] of cases) {
    world.seen.length = 0;
    world.faults.push(fault);
    const thrown = await failureOf(alice.send({ to: keys.bob.address, body: 1 }));
    assert.equal((thrown as { code?: string }).code, code);
    assert.equal(world.seen.length, 1, code);
  }
  assert.ok(await failureOf(alice.send({ to: "nobody", body: 1 })) instanceof RefusalError);
  assert.ok(await failureOf(alice.send({ to: "no body", body: 1 })) instanceof TypeError);
});

Deno.test("send() gives up when its time is used up and says what may have happened", async () => {
  await using world = await startClientWorld();
  const { alice, keys } = await pair(world);
  const before = world.relay.clock.now();
  for (const [fault, code] of [["refused", "unreachable"], ["slow", "timeout"]] as const) {
    world.faults.push(...Array<Fault>(40).fill(fault));
    const thrown = await failureOf(alice.send({ to: keys.bob.address, body: 1 }));
    assert.ok(thrown instanceof NetworkError);
    assert.deepEqual([thrown.code, thrown.mayHaveHappened], [code, true]);
    world.faults.length = 0;
  }
  assert.ok(world.relay.clock.now() - before <= 2 * 80_000);
});

Deno.test("send() never signs anew what may have been carried out, however long it tries", async () => {
  await using world = await startClientWorld();
  const { keys, bob } = await pair(world);
  const alice = world.client({ keys: keys.alice, retryForMs: Infinity });
  world.faults.push("dropped", ...Array<Fault>(100).fill("refused"));
  const thrown = await failureOf(alice.send({ to: keys.bob.address, body: 1 }));
  assert.ok(thrown instanceof NetworkError);
  const tries = sends(world);
  assert.ok(tries.length > 20 && tries.length < 60, `${tries.length} tries`);
  const signatures = new Set(tries.map(({ headers }) => headers.get("x-relay-signature")));
  assert.equal(signatures.size, 1);
  world.faults.length = 0;
  assert.equal((await everything(bob)).length, 1);
});

Deno.test("send() never signs anew what a relay without an answer from its store may have stored", async () => {
  await using world = await startClientWorld();
  const { keys, bob } = await pair(world);
  const alice = world.client({ keys: keys.alice, retryForMs: Infinity });
  const unavailable = refusal(503, "unavailable", 200_000);
  world.faults.push({ ...unavailable, isCarriedOut: true }, unavailable);
  const thrown = await failureOf(alice.send({ to: keys.bob.address, body: 1 }));
  assert.ok(thrown instanceof RefusalError);
  assert.deepEqual([thrown.code, thrown.mayHaveHappened], ["unavailable", true]);
  assert.equal((await everything(bob)).length, 1);
});

Deno.test("send() signs anew what was refused for longer than a signature lives", async () => {
  await using world = await startClientWorld();
  const { keys, bob } = await pair(world);
  const alice = world.client({ keys: keys.alice, retryForMs: Infinity });
  world.faults.push(...Array<Fault>(3).fill(refusal(429, "rate_limited", 200_000)));
  await alice.send({ to: keys.bob.address, body: 1 });
  const timestamps = sends(world).map(({ headers }) => Number(headers.get("x-relay-timestamp")));
  assert.deepEqual(timestamps.map((one) => one - timestamps[0]!), [0, 0, 400, 400]);
  assert.equal((await everything(bob)).length, 1);
});

Deno.test("send() waits for a second that the relay accepts when many are used up", async () => {
  await using world = await startClientWorld();
  const { keys, bob } = await pair(world);
  const before = world.relay.clock.now();
  const alice = world.client({
    keys: keys.alice,
    usedTimestamps: { claim: (_, nowSeconds) => nowSeconds + 400 },
  });
  await alice.send({ to: keys.bob.address, body: 1 });
  assert.equal(world.relay.clock.now() - before, 160_000);
  assert.equal((await everything(bob)).length, 1);
});

Deno.test("send() ends with the signal's reason, in a request and between two", async () => {
  await using world = await startClientWorld();
  const { keys } = await pair(world);
  const reason = new Error("enough");
  const message = { to: keys.bob.address, body: 1 };
  const early = AbortSignal.abort(reason);
  const alice = world.client({ keys: keys.alice });
  assert.equal(await failureOf(alice.send(message, { signal: early })), reason);
  assert.equal(world.seen.length, 0);

  const inside = new AbortController();
  const hanging = world.client({
    keys: keys.alice,
    fetch: (_input, init) =>
      new Promise((_, reject) => {
        init!.signal!.addEventListener("abort", () => reject(new TypeError("aborted")));
        inside.abort(reason);
      }),
  });
  assert.equal(await failureOf(hanging.send(message, { signal: inside.signal })), reason);

  const between = new AbortController();
  world.faults.push("refused");
  const waiting = world.client({ keys: keys.alice, onRetry: () => between.abort(reason) });
  assert.equal(await failureOf(waiting.send(message, { signal: between.signal })), reason);
  assert.equal(sends(world).length, 1);
});

Deno.test("send() tells of each try that failed and when the next one follows", async () => {
  await using world = await startClientWorld();
  const { keys } = await pair(world);
  const told: [string, number, number][] = [];
  const alice = world.client({
    keys: keys.alice,
    random: (sizeBytes) => new Uint8Array(sizeBytes),
    onRetry: ({ failure, tries, delayMs }) => told.push([failure.code, tries, delayMs]),
  });
  world.faults.push("refused", refusal(503, "unavailable", 3_000), "cut", "refused");
  await alice.send({ to: keys.bob.address, body: 1 });
  assert.deepEqual(told, [
    ["unreachable", 1, 125],
    ["unavailable", 2, 3_000],
    ["cut", 3, 500],
    ["unreachable", 4, 1_000],
  ]);
});
