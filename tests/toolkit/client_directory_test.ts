/** The client's look-ups, profile, outbox, and how it takes answers that contradict its question. */
import assert from "node:assert/strict";
import { generateKeyPair, verifyMessage } from "../../toolkit/mod.ts";
import { type ClientWorld, startClientWorld } from "./client_world.ts";

async function pair(world: ClientWorld) {
  const keys = { alice: generateKeyPair(), bob: generateKeyPair() };
  const alice = world.client({ keys: keys.alice });
  const bob = world.client({ keys: keys.bob });
  await alice.register({ handle: "alice", tags: ["math", "fast"], description: "adds numbers" });
  await bob.register({ handle: "bob", tags: ["math"] });
  world.seen.length = 0;
  return { alice, bob, keys };
}

Deno.test("resolve() finds an agent by each of its names", async () => {
  await using world = await startClientWorld();
  const { keys } = await pair(world);
  const anybody = world.client({ keys: undefined });
  const profile = await anybody.resolve("@Alice");
  assert.deepEqual([profile.handle, profile.address, profile.tags], [
    "alice",
    keys.alice.address,
    ["math", "fast"],
  ]);
  assert.deepEqual(await anybody.resolve(profile.word_name.toUpperCase()), profile);
  assert.deepEqual(await anybody.resolve(keys.alice.address), profile);
  await assert.rejects(anybody.resolve("carol"), { code: "not_found", status: 404 });
  for (const none of ["", "@", "a", "no name", "@no-name", "a/b", "x".repeat(45)]) {
    await assert.rejects(anybody.resolve(none), TypeError, none);
  }
});

Deno.test("resolve() refuses another agent than the one asked for", async () => {
  await using world = await startClientWorld();
  const { keys, alice } = await pair(world);
  const bob = JSON.stringify(await alice.resolve("bob"));
  world.alter = () => bob;
  for (const asked of ["alice", keys.alice.address, (await alice.resolve("bob")).word_name]) {
    const answer = alice.resolve(asked);
    if (asked.includes("-")) assert.equal((await answer).handle, "bob");
    else await assert.rejects(answer, { code: "malformed_answer" });
  }
});

Deno.test("search() browses, finds by text and tags, and pages", async () => {
  await using world = await startClientWorld();
  const { alice } = await pair(world);
  // The directory may show an agent up to two seconds late.
  world.relay.clock.advance(2_000);
  const handles = async (query = {}) => (await alice.search(query)).map(({ handle }) => handle);
  assert.deepEqual(await handles(), ["bob", "alice"]);
  assert.deepEqual(await handles({ limit: 1 }), ["bob"]);
  const [newest] = await alice.search({ limit: 1 });
  assert.deepEqual(await handles({ before_id: newest!.id }), ["alice"]);
  assert.deepEqual(await handles({ q: "ADDS numbers" }), ["alice"]);
  assert.deepEqual((await handles({ tags: ["math"] })).sort(), ["alice", "bob"]);
  assert.deepEqual(await handles({ tags: ["math", "fast"] }), ["alice"]);
  assert.deepEqual(await handles({ q: "nobody & nothing" }), []);
  assert.deepEqual(world.seen.at(-1)!.target, "/v1/agents?q=nobody%20%26%20nothing");
  const [entry] = await alice.search({ q: "alice" });
  assert.deepEqual(Object.keys(entry!), [
    "id",
    "handle",
    "word_name",
    "address",
    "display_name",
    "description",
    "tags",
    "created_at",
  ]);
  await assert.rejects(alice.search({ tags: ["no tag"] }), { code: "invalid_json", status: 400 });
});

Deno.test("updateProfile() changes what is given, once, however often the answer is lost", async () => {
  await using world = await startClientWorld();
  const { alice } = await pair(world);
  world.faults.push("dropped", "cut");
  const profile = await alice.updateProfile({ display_name: "Alice", tags: ["slow"] });
  assert.deepEqual([profile.display_name, profile.description, profile.tags], [
    "Alice",
    "adds numbers",
    ["slow"],
  ]);
  const signatures = world.seen.map(({ headers }) => headers.get("x-relay-signature"));
  assert.deepEqual([signatures.length, new Set(signatures).size], [3, 1]);
  assert.equal(world.seen[0]!.body, '{"display_name":"Alice","tags":["slow"]}');
  // The same change again is a new request, although it has the same bytes in the same second.
  await alice.updateProfile({ display_name: "B" });
  await alice.updateProfile({ display_name: "C" });
  assert.equal((await alice.updateProfile({ display_name: "B" })).display_name, "B");
  assert.equal((await alice.whoami()).display_name, "B");
  await alice.updateProfile({ notification_email: "a@relay.example" });
  await alice.updateProfile({ notification_email: null });
  await assert.rejects(alice.updateProfile({ tags: ["No!"] }), { code: "invalid_json" });
});

Deno.test("outbox() tells what was sent and what was fetched", async () => {
  await using world = await startClientWorld();
  const { alice, bob, keys } = await pair(world);
  const first = await alice.send({ to: "bob", body: { text: "1" } });
  const second = await alice.send({ to: "bob", body: [2], content_type: "json" });
  world.faults.push("cut");
  const before = await alice.outbox();
  assert.equal(before.last_id, second.id);
  assert.deepEqual(before.messages.map(({ delivered_at }) => delivered_at), [null, null]);
  const { id, to, to_handle, body, content_hash } = before.messages[1]!;
  assert.deepEqual([id, to, to_handle, body], [second.id, keys.bob.address, "bob", [2]]);
  assert.equal(content_hash, second.content_hash);
  await Array.fromAsync(bob.inbox({ follow: false }));
  const after = await alice.outbox({ since: first.id, limit: 1 });
  assert.equal(after.messages.length, 1);
  assert.match(after.messages[0]!.delivered_at!, /^\d{4}-.+Z$/);
  assert.deepEqual(await alice.outbox({ since: second.id }), {
    messages: [],
    last_id: second.id,
  });
});

Deno.test("whoami() refuses the record of another key", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const other = JSON.stringify(await bob.whoami());
  world.alter = () => other;
  await assert.rejects(alice.whoami(), { code: "malformed_answer", message: /another address/ });
});

Deno.test("signedRequest() gives the bytes to sender and recipient, and to nobody else", async () => {
  await using world = await startClientWorld();
  const { alice, bob } = await pair(world);
  const { id } = await alice.send({ to: "bob", body: 1 });
  const signed = world.seen.at(-1)!.body;
  for (const client of [alice, bob]) {
    assert.equal(new TextDecoder().decode(await client.signedRequest(id)), signed);
  }
  const carol = world.client();
  await carol.register({ handle: "carol" });
  await assert.rejects(carol.signedRequest(id), { code: "not_found", status: 404 });
});

Deno.test("send() keeps to a pinned address, whatever the relay says of the handle", async () => {
  await using world = await startClientWorld();
  const { keys, bob } = await pair(world);
  const alice = world.client({ keys: keys.alice, pins: { "@Bob": keys.bob.address } });
  world.alter = (target, text) =>
    target.startsWith("/v1/agents/") ? text.replace(keys.bob.address, keys.alice.address) : text;
  await alice.send({ to: "bob", body: 1 });
  assert.deepEqual(world.seen.map(({ method }) => method), ["POST"]);
  const [received] = await Array.fromAsync(bob.inbox({ follow: false }));
  const report = await verifyMessage(received!.message, {
    recipient: { address: keys.bob.address },
  });
  assert.equal(report.addressee, "key");
});

Deno.test("send() refuses a look-up that gives a word name of another key", async () => {
  await using world = await startClientWorld();
  const { alice, keys } = await pair(world);
  world.alter = (_, text) => text.replace(keys.bob.address, keys.alice.address);
  await assert.rejects(alice.send({ to: "bob", body: 1 }), {
    code: "malformed_answer",
    message: /word_name that its address does not derive/,
  });
  assert.deepEqual(world.seen.map(({ method }) => method), ["GET"]);
});
