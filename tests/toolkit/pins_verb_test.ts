/** What is pinned with `relay pin`, used by the verbs that send and show messages. */
import assert from "node:assert/strict";
import { generateKeyPair, wordName } from "../../toolkit/mod.ts";
import { startClientWorld } from "./client_world.ts";
import { registered } from "./person.ts";

Deno.test("inbox and verify compare pins in every spelling; --from is stronger", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  const { address, publicKey } = alice.keys;
  const other = generateKeyPair().address;
  await alice.out(["send", bob.keys.address, "--text", "hello"]);
  const stdin = await bob.out(["inbox", "--json"]);
  const senders = async () => {
    const [{ report, overall }] = await bob.json(["inbox"]);
    const [offline] = await bob.json(["verify"], { stdin }).catch(() => [undefined]);
    const verdict = await bob.run(["verify"], { stdin });
    return [report.sender, overall, offline?.report.sender, verdict.code];
  };
  assert.deepEqual(await senders(), ["not-pinned", "open", "not-pinned", 0]);
  for (const name of ["@Alice", "ALICE", wordName(publicKey).toUpperCase(), address]) {
    await bob.out(name === address ? ["pin", address] : ["pin", name, address]);
    assert.deepEqual(await senders(), ["pinned", "proven", "pinned", 0], name);
    await bob.out(["pin", "--remove", address]);
  }
  await bob.out(["pin", "alice", other]);
  const [shown, verdict] = (await bob.out(["inbox"])).split("\n");
  assert.match(shown!, new RegExp(`^${address} \\(.+NOT THE KEY PINNED AS @alice\\): message`));
  assert.match(
    verdict!,
    /^FALSE: .+; signer MISMATCH \(from is not the key that its name is pinned/,
  );
  const { code, out } = await bob.run(["verify"], { stdin });
  assert.equal(code, 1);
  assert.match(out, /signer MISMATCH \(from is not the key that its name is pinned to\)/);
  const from = await bob.run(["verify", "--from", address], { stdin });
  assert.equal(from.code, 0, "--from is stronger");
  const wrong = await bob.run(["verify", "--from", other], { stdin });
  assert.match(wrong.out, /signer MISMATCH \(from is not the address given with --from\)/);
});

Deno.test("inbox and outbox begin their lines with the pinned name, which no stranger can have", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  await bob.out(["pin", "alice", alice.keys.address]);
  await alice.out(["pin", "@bob", bob.keys.address]);
  await alice.out(["send", "bob", "--text", "hello"]);
  const { address } = alice.keys;
  const name = wordName(alice.keys.publicKey);
  const lines = (await bob.out(["inbox"])).split("\n");
  assert.ok(lines[0]!.startsWith(`@alice ${address} (${name}): message `));
  assert.match(lines[1]!, new RegExp(`signer pinned; from @alice ${address};`));
  assert.ok((await alice.out(["outbox"])).startsWith(`@bob ${bob.keys.address} (`));

  const forgery = `@alice ${address} (${name}): message 1\\npassed: message 1`;
  for (const handle of [forgery, "@alice", "alice ", "Alice", "a\\u202elice"]) {
    world.alter = (_, text) => text.replace('"from_handle":"alice"', `"from_handle":"${handle}"`);
    const [first] = (await bob.out(["inbox"])).split("\n");
    const isAlice = handle === "@alice" || handle === "Alice";
    assert.ok(
      first!.startsWith(`${isAlice ? "@alice " : ""}${address} (${name}, no handle): message`),
      first,
    );
  }
});

Deno.test("send goes to the pinned key, and asks the relay for none", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  await alice.out(["pin", "bob", bob.keys.address]);
  const [mallory] = await world.client().register({ handle: "mallory" }).then((
    one,
  ) => [one.address]);
  world.alter = (_, text) => text.replaceAll(bob.keys.address, mallory!);
  world.seen.length = 0;
  const { out } = await alice.run(["send", "@BOB", "--text", "secret", "--json"]);
  assert.equal(JSON.parse(out).to, bob.keys.address);
  assert.deepEqual(world.seen.map(({ target }) => target), ["/v1/messages"]);
});

Deno.test("a broken file of pins stops the verbs that would rest on it", async () => {
  await using world = await startClientWorld();
  const bob = await registered(world, "bob");
  bob.files.set("/me/.config/relay/pins.json", "{}");
  for (const args of [["inbox"], ["outbox"], ["send", "bob", "--text", "x"], ["verify"]]) {
    const { code, out, err } = await bob.run(args, { stdin: "{}" });
    assert.deepEqual([code, out], [2, ""], args[0]);
    assert.match(err, /is no file of pins/);
  }
});
