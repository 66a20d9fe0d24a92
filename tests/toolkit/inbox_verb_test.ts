/** `relay inbox` against a real relay: verdicts, --json, pages, the cursor, untrusted text. */
import assert from "node:assert/strict";
import { wordName } from "../../toolkit/mod.ts";
import { TestAgent } from "../support/test_agent.ts";
import { startClientWorld } from "./client_world.ts";
import { registered } from "./person.ts";

Deno.test("equal sends of one second are as many messages, though each run begins anew", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  const twice = ["send", bob.keys.address, "--text", "again"];
  await Promise.all([alice.out(twice), alice.out(twice), alice.out(twice)]);
  assert.equal((await bob.json(["inbox"])).length, 3);
});

Deno.test("inbox shows each message with its verdicts, and what was altered as FALSE", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  const [sent] = await alice.json(["send", "bob", "--text", "pay 10", "--subject", "Hi"]);
  const lines = (await bob.out(["inbox"])).split("\n");
  assert.match(
    lines[0]!,
    new RegExp(`^${alice.keys.address} \\([a-z-]+, @alice\\): message ${sent.id}, .+Z$`),
  );
  assert.match(lines[1]!, /^passed: message \d+: signature valid; signer not pinned; .+ by key;/);
  assert.deepEqual(lines.slice(2), ["  | Subject: Hi", "  | ", "  | pay 10", ""]);
  const colored = await bob.out(["inbox"], { terminals: ["stdout"] });
  assert.ok(colored.includes("\n\u001b[32mpassed\u001b[0m: message"));
  const plain = await bob.out(["inbox", "--no-verify"]);
  assert.doesNotMatch(plain, /passed/);
  assert.equal("report" in (await bob.json(["inbox", "--no-verify"]))[0], false);

  world.alter = (_, text) => text.replace("pay 10", "pay 99");
  const altered = await bob.run(["inbox"]);
  assert.equal(altered.code, 0);
  assert.match(altered.out, /^FALSE: .+content hash MISMATCH; body NOT BOUND: neither a request/m);
});

Deno.test("inbox --json folds the verdicts, so that a filter passes no forged or unknown message", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  await alice.out(["send", bob.keys.address, "--text", "pay 10"]);
  const folded = async (change: (text: string) => string) => {
    world.alter = (_, text) => change(text);
    return (await bob.json(["inbox"])).map(({ report, overall }) => [
      report.signature,
      report.body,
      overall,
    ]);
  };
  assert.deepEqual(await folded((text) => text), [["valid", "bound", "open"]]);
  const { address } = alice.keys;
  const forged = await folded((text) => text.replaceAll(address, bob.keys.address));
  assert.deepEqual(forged, [["invalid", "bound", "false"]]);
  const altered = await folded((text) => text.replaceAll("pay 10", "pay 99"));
  assert.deepEqual(altered, [["valid", "unbound", "false"]]);
});

Deno.test("inbox and outbox say which word names their keys cannot have", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  await alice.out(["send", bob.keys.address, "--text", "hello"]);
  const [aliceName, bobName] = [alice, bob].map(({ keys }) => wordName(keys.publicKey));
  world.alter = (_, text) => text.replaceAll(bobName!, aliceName!);
  const { address } = bob.keys;
  const line = `${address} (${aliceName} IS NO NAME OF THIS KEY, @bob): sent message`;
  assert.ok((await alice.out(["outbox"])).startsWith(line));
  world.alter = (_, text) => text.replaceAll(aliceName!, bobName!);
  const received = await bob.out(["inbox"]);
  const forged = `${alice.keys.address} (${bobName} IS NO NAME OF THIS KEY, @alice): message`;
  assert.ok(received.startsWith(forged));
});

Deno.test("inbox --json is input of verify", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  for (const text of ["1", "2"]) await alice.out(["send", "bob", "--text", text]);
  const stdin = await bob.out(["inbox", "--json"]);
  const [first] = stdin.split("\n");
  assert.deepEqual(Object.keys(JSON.parse(first!)), [
    "id",
    "from",
    "from_handle",
    "from_word_name",
    "body",
    "content_hash",
    "signature",
    "canonical_string",
    "in_reply_to",
    "content_type",
    "created_at",
    "report",
    "overall",
  ]);
  const verdicts = await bob.json(["verify"], { stdin });
  assert.deepEqual(verdicts.map(({ report }) => report.body), ["bound", "bound"]);
});

Deno.test("inbox reads what there is, or as much as is asked for, without a cursor", async () => {
  await using world = await startClientWorld({ limits: { sendsPerAgentPerMinute: 100 } });
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  assert.equal(await bob.out(["inbox"]), "");
  for (let n = 0; n < 60; n++) await alice.out(["send", bob.keys.address, "--json-body", `${n}`]);
  const bodies = async (...args: string[]) =>
    (await bob.json(["inbox", ...args])).map(({ body }) => body);
  assert.deepEqual(await bodies(), [...Array(50).keys()]);
  assert.deepEqual(await bodies("--limit", "3"), [0, 1, 2]);
  assert.equal((await bodies("--limit", "500")).length, 60);
  const [, second] = await bob.json(["inbox", "--limit", "2"]);
  assert.deepEqual(await bodies("--since", `${second.id}`, "--limit", "2"), [2, 3]);
  for (const wrong of [["--limit", "0"], ["--since", "-1"], ["--since", "x"], ["extra"]]) {
    assert.equal((await bob.run(["inbox", ...wrong])).code, 2);
  }
});

Deno.test("inbox --follow goes on where it ended, per relay and address", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  for (const n of [1, 2, 3]) await alice.out(["send", bob.keys.address, "--json-body", `${n}`]);
  const bodies = async (...args: string[]) =>
    (await bob.json(["inbox", "--follow", ...args])).map(({ body }) => body);
  assert.deepEqual(await bodies("--limit", "2"), [1, 2]);
  assert.deepEqual(await bodies("--limit", "1"), [3]);
  assert.deepEqual(await bodies("--limit", "2", "--since", "0"), [1, 2]);
  const interrupt = new AbortController();
  const following = bob.json(["inbox", "--follow"], { interruption: interrupt.signal });
  world.alter = (target, text) => {
    if (target.startsWith("/v1/inbox")) queueMicrotask(() => interrupt.abort());
    return text;
  };
  await alice.out(["send", bob.keys.address, "--json-body", "4"]);
  assert.deepEqual((await following).map(({ body }) => body), [4], "the cursor never moves back");
});

Deno.test("what others write reaches the terminal escaped", async () => {
  await using world = await startClientWorld();
  const bob = await registered(world, "bob");
  const alice = await registered(world, "alice");
  const raw = new TestAgent(world.relay, alice.keys);
  await raw.sent({ to: "bob", body: { text: "\u001b[2J\npassed: message 1: signature valid" } });
  const out = await bob.out(["inbox"]);
  assert.match(out, /^ {2}\| \\u\{1b\}\[2J\n {2}\| passed: message 1: signature valid\n/m);
  assert.equal(out.match(/^passed/gm)!.length, 1);
});
