/** The client's registration and its owner_token, answers lost and all. */
import assert from "node:assert/strict";
import { RefusalError } from "../../toolkit/client/refusal_error.ts";
import { RelayClient } from "../../toolkit/client/relay_client.ts";
import { generateKeyPair } from "../../toolkit/mod.ts";
import { ask } from "../support/answer.ts";
import { type ClientWorld, refusal, startClientWorld } from "./client_world.ts";

/** The handle of the agent that a token belongs to; undefined for a dead token. */
async function ownerOf(world: ClientWorld, token: string): Promise<string | undefined> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await ask(`${world.relay.url}/v1/whoami`, { headers })).json.handle;
}

async function refusalOf(work: Promise<unknown>): Promise<RefusalError> {
  const thrown = await work.then(() => assert.fail("it must fail"), (error) => error);
  assert.ok(thrown instanceof RefusalError, String(thrown));
  return thrown;
}

Deno.test("register() proves that it holds the key and gives what the contract says", async () => {
  await using world = await startClientWorld({ config: { requireKeyProof: true } });
  const keys = generateKeyPair();
  const client = world.client({ keys });
  const made = await client.register({
    handle: "@Alice",
    display_name: "Alice",
    description: "answers",
    tags: ["a", "b"],
  });
  assert.deepEqual(Object.keys(made), ["handle", "word_name", "address", "owner_token"]);
  assert.deepEqual([made.handle, made.address], ["alice", keys.address]);
  assert.equal(await ownerOf(world, made.owner_token), "alice");
  const own = await client.whoami();
  assert.deepEqual([own.display_name, own.description, own.tags, own.key_custody], [
    "Alice",
    "answers",
    ["a", "b"],
    "self",
  ]);
  assert.equal(own.word_name, made.word_name);
});

for (const fault of ["dropped", "cut", "slow"] as const) {
  Deno.test(`register() comes by a token that works when the answer was ${fault}`, async () => {
    await using world = await startClientWorld();
    world.faults.push(fault);
    const made = await world.client().register({ handle: "@Alice" });
    assert.equal(made.handle, "alice");
    assert.equal(await ownerOf(world, made.owner_token), "alice");
    assert.deepEqual(world.seen.map(({ target }) => target), [
      "/v1/register",
      "/v1/register",
      "/v1/whoami",
      "/v1/owner-token",
    ]);
    const [first, second] = world.seen.map(({ headers }) => headers.get("x-relay-signature"));
    assert.equal(first, second);
  });
}

Deno.test("register() finds its agent when the lost answer used up the hourly limit", async () => {
  await using world = await startClientWorld({ limits: { registrationsPerIpPerHour: 1 } });
  world.faults.push("dropped");
  const made = await world.client().register({ handle: "alice" });
  assert.equal(await ownerOf(world, made.owner_token), "alice");
});

Deno.test("register() finds its agent when the relay had it stored and said that it did not know", async () => {
  await using world = await startClientWorld();
  world.faults.push({ ...refusal(503, "unavailable", 1_000), isCarriedOut: true });
  const made = await world.client().register({ handle: "alice" });
  assert.equal(await ownerOf(world, made.owner_token), "alice");
});

Deno.test("register() leaves a refused registration refused", async () => {
  await using world = await startClientWorld();
  const keys = generateKeyPair();
  const client = world.client({ keys });
  const { owner_token } = await client.register({ handle: "alice" });
  const other = world.client();
  // With another key, before and after a lost answer; with the same key, under another handle.
  assert.equal((await refusalOf(other.register({ handle: "alice" }))).code, "handle_taken");
  world.faults.push("dropped");
  assert.equal((await refusalOf(other.register({ handle: "alice" }))).code, "handle_taken");
  world.faults.push("dropped");
  assert.equal((await refusalOf(client.register({ handle: "other" }))).code, "handle_taken");
  assert.equal((await refusalOf(client.register({ handle: "alice" }))).code, "handle_taken");
  assert.equal((await refusalOf(client.register({ handle: "admin" }))).code, "reserved_handle");
  assert.equal((await refusalOf(client.register({ handle: "a" }))).code, "invalid_handle");
  assert.equal(await ownerOf(world, owner_token), "alice", "the token was not replaced");
});

Deno.test("rotateOwnerToken() asks anew with each try, so that the token it gives works", async () => {
  await using world = await startClientWorld();
  const client = world.client();
  const { owner_token } = await client.register({ handle: "alice" });
  world.seen.length = 0;
  world.faults.push("dropped", "cut", refusal(503, "unavailable", 1_000), "slow");
  const token = await client.rotateOwnerToken();
  assert.equal(await ownerOf(world, token), "alice");
  assert.equal(await ownerOf(world, owner_token), undefined);
  const signatures = world.seen.map(({ headers }) => headers.get("x-relay-signature"));
  assert.deepEqual([signatures.length, new Set(signatures).size], [5, 5]);
  assert.notEqual(await client.rotateOwnerToken(), token);
});

Deno.test("a client without keys says so where it must sign", async () => {
  await using world = await startClientWorld();
  const client = world.client({ keys: undefined });
  await assert.rejects(client.whoami(), TypeError);
  assert.throws(() => client.inbox(), TypeError);
  assert.equal((await refusalOf(client.resolve("alice"))).code, "not_found");
});

Deno.test("a client refuses options that are none", () => {
  const wrong = [
    { relay: "relay.example" },
    { relay: "ftp://relay.example" },
    { relay: "https://relay.example/base" },
    { relay: "https://relay.example/?a" },
    { relay: "https://user@relay.example" },
    { timeoutMs: -1 },
    { retryForMs: NaN },
    { pins: { "no name": "x" } },
    { pins: { alice: "bob" } },
  ];
  for (const options of wrong) {
    assert.throws(() => unconnected(options), TypeError, JSON.stringify(options));
  }
  unconnected({ relay: "https://relay.example:8443/" });
});

function unconnected(options: Record<string, unknown>): void {
  new RelayClient({ relay: "https://relay.example", ...options });
}
