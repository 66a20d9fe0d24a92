/** `relay inbox --json` carries what it took to verify, so that `relay verify` says the same. */
import assert from "node:assert/strict";
import { base64 } from "@scure/base";
import { verifyMessage, wordName } from "../../toolkit/mod.ts";
import { TestAgent } from "../support/test_agent.ts";
import { type ClientWorld, refusal, startClientWorld } from "./client_world.ts";
import { type Person, registered } from "./person.ts";

async function pair(world: ClientWorld) {
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  return { alice, bob, raw: new TestAgent(world.relay, alice.keys) };
}

async function sameOffline(bob: Person, args: string[] = []): Promise<unknown[]> {
  const stdin = await bob.out(["inbox", "--json"]);
  const online = stdin.trim().split("\n").map((line) => JSON.parse(line));
  const host = await bob.run(["verify", "--json", ...args], { stdin });
  const offline = host.out.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(offline.map(({ report }) => report), online.map(({ report }) => report));
  return online;
}

Deno.test("verify of inbox --json says the same of every way to address and to spell a request", async () => {
  await using world = await startClientWorld();
  const { bob, raw } = await pair(world);
  const { address, publicKey } = bob.keys;
  await raw.sent({ to: address, body: "by key" });
  await raw.sent({ to: wordName(publicKey), body: "by word name" });
  await raw.sent({ to: "@bob", body: "by handle" });
  await raw.sent(`{ "to": "bob", "body": "with spaces" }`);
  await raw.sent(`{ "to": "${address}", "body": "spaces again" }`);
  const online = await sameOffline(bob) as Record<string, unknown>[];
  assert.deepEqual(online.map((line) => typeof line.request_base64), [
    "undefined",
    "undefined",
    "undefined",
    "string",
    "string",
  ]);
  const bytes = base64.decode(online[3]!.request_base64 as string);
  assert.equal(new TextDecoder().decode(bytes), `{ "to": "bob", "body": "with spaces" }`);
  const stdin = JSON.stringify(online[3]);
  const anywhere = { stdin, env: { HOME: "/elsewhere" } };
  assert.equal(
    (await bob.run(["verify", "--to", address], anywhere)).code,
    0,
    "on another machine",
  );
});

Deno.test("a request beside a message binds only what has the signed hash", async () => {
  await using world = await startClientWorld();
  const { bob, raw } = await pair(world);
  await raw.sent(`{ "to": "bob", "body": "pay 10" }`);
  const [line] = await sameOffline(bob) as Record<string, unknown>[];
  const told = async (change: object, args: string[] = []) => {
    const stdin = JSON.stringify({ ...line, ...change });
    const { code, out, err } = await bob.run(["verify", ...args], { stdin });
    return `${code} ${out}${err}`;
  };
  const other = (text: string) => ({
    request_base64: base64.encode(new TextEncoder().encode(text)),
  });
  assert.match(await told({}), /^0 passed: /);
  assert.match(
    await told(other(`{ "to": "bob", "body": "pay 99" }`)),
    /^3 .+the request_base64 beside/,
  );
  const forged = { ...other(`{ "to": "bob", "body": "pay 99" }`), body: "pay 99" };
  assert.match(await told(forged), /^1 FALSE: .+content hash MISMATCH; body NOT BOUND/);
  assert.match(await told({ request_base64: "" }), /^3 not bound/);
  for (const request_base64 of ["*", 5, null, "YQ"]) {
    assert.match(await told({ request_base64 }), /^2 .+request_base64 must be standard base64/);
  }
  bob.files.set("good", `{ "to": "bob", "body": "pay 10" }`);
  assert.match(await told({ request_base64: "YQ==" }, ["--request", "good"]), /^0 passed/);
});

Deno.test("a message that no request binds is told alike, and so is one of a relay without requests", async () => {
  await using world = await startClientWorld();
  const { bob, raw } = await pair(world);
  await raw.sent(`{ "to": "bob", "body": 1 }`);
  world.faults.push(undefined, undefined, refusal(404, "not_found"));
  const [line] = await sameOffline(bob) as { request_base64?: string; overall: string }[];
  assert.deepEqual([line!.request_base64, line!.overall], [undefined, "open"]);
});

Deno.test("inbox() tells what each report rests on: with it verifyMessage() says the same", async () => {
  await using world = await startClientWorld();
  const { alice, bob, raw } = await pair(world);
  await raw.sent({ to: "@bob", body: "by handle" });
  await raw.sent(`{ "to": "bob", "body": "with spaces" }`);
  const client = world.client({ keys: bob.keys, pins: { alice: alice.keys.address } });
  const received = await Array.fromAsync(client.inbox({ follow: false }));
  assert.equal(received.length, 2);
  for (const { message, report, checkedWith } of received) {
    assert.equal(report.sender, "pinned");
    assert.deepEqual(await verifyMessage(message, checkedWith), report);
  }
});
