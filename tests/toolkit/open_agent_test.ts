/** An agent that keeps its key, its timestamps and its cursor in files, stopped at every point. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { OpenAgentOptions } from "../../toolkit/node/mod.ts";
import { FileError, openAgent } from "../../toolkit/node/mod.ts";
import { generateKeyPair, overall } from "../../toolkit/mod.ts";
import { type ClientWorld, refusal, startClientWorld } from "./client_world.ts";

interface AgentWorld extends ClientWorld {
  folder: string;
  warnings: string[];
  open(handle: string, more?: Partial<OpenAgentOptions>): ReturnType<typeof openAgent>;
}

async function inWorld(work: (world: AgentWorld) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "relay-agent-" });
  const warnings: string[] = [];
  try {
    await using world = await startClientWorld();
    const { clock, fetch, relay } = world;
    const given = {
      clock,
      fetch,
      relay: relay.url,
      onWarning: (words: string) => warnings.push(words),
    };
    await work(Object.assign(world, {
      folder,
      warnings,
      open: (handle: string, more: Partial<OpenAgentOptions> = {}) =>
        openAgent({ ...given, handle, file: join(folder, "sub", `${handle}.json`), ...more }),
    }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const NO_FOLLOW = { follow: false };

Deno.test("openAgent() makes the key file and registers, and opens the same agent again", () =>
  inWorld(async (world) => {
    const first = await world.open("alice", { tags: ["math"] });
    const path = join(world.folder, "sub/alice.json");
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    const { created_at: _, ...record } = await first.client.whoami();
    const { address, handle, word_name } = first;
    assert.deepEqual([record.tags, handle], [["math"], "alice"]);
    assert.deepEqual([record.address, record.word_name], [address, word_name]);
    const before = await Deno.readTextFile(path);
    world.seen.length = 0;
    const again = await world.open("@Alice", { file: path });
    assert.deepEqual([again.address, again.handle], [address, "alice"]);
    assert.equal(await Deno.readTextFile(path), before);
    assert.deepEqual(world.seen.map(({ target }) => target), ["/v1/whoami"], "only asked");
    assert.deepEqual(world.warnings, []);
  }));

Deno.test("openAgent() refuses options that name no file before it touches anything", () =>
  inWorld(async (world) => {
    for (const file of [undefined, "", 5] as unknown as string[]) {
      await assert.rejects(world.open("alice", { file }), (thrown: Error) => {
        assert.ok(thrown instanceof TypeError && !(thrown instanceof FileError), `${thrown}`);
        return /^file must be the path of the agent's key file/.test(thrown.message);
      });
    }
    assert.equal(world.seen.length, 0);
  }));

Deno.test("openAgent() registers again after a lost answer, in the same process and in the next", () =>
  inWorld(async (world) => {
    world.faults.push("dropped");
    const alice = await world.open("alice");
    assert.equal((await alice.client.whoami()).handle, "alice");

    world.faults.push("dropped", ...Array(20).fill("refused"));
    await assert.rejects(world.open("bob", { retryForMs: 0 }), { name: "NetworkError" });
    world.faults.length = 0;
    world.seen.length = 0;
    assert.equal((await world.open("bob")).handle, "bob", "its process ended, its key is there");
    assert.deepEqual(world.seen.map(({ target }) => target), ["/v1/whoami"]);

    world.faults.push("refused");
    await assert.rejects(world.open("carol", { retryForMs: 0 }), { name: "NetworkError" });
    assert.equal((await world.open("carol")).handle, "carol", "never registered before");
    await assert.rejects(world.open("alice", { file: join(world.folder, "other") }), {
      code: "handle_taken",
    });
  }));

Deno.test("openAgent() makes one key where several processes open the same file at once", () =>
  inWorld(async (world) => {
    const opened = await Promise.all([1, 2, 3].map(() => world.open("alice")));
    assert.equal(new Set(opened.map(({ address }) => address)).size, 1);
    // The other process registers between this one's question and its registration.
    const other = await world.open("bob");
    world.faults.push(refusal(401, "unknown_agent"));
    assert.equal((await world.open("bob")).address, other.address);
  }));

Deno.test("receive() moves the cursor after the handler, so that a crash repeats and loses none", () =>
  inWorld(async (world) => {
    const alice = await world.open("alice");
    const bob = await world.open("bob", { pins: { alice: alice.address } });
    for (let n = 0; n < 4; n++) await alice.send({ to: bob.address, body: n });
    const seen: unknown[] = [];
    const crashAt = (body: unknown) => ({ message }: { message: { body: unknown } }) => {
      seen.push(message.body);
      if (message.body === body) throw new Error("crashed");
    };
    await assert.rejects(bob.receive(crashAt(1), NO_FOLLOW), /crashed/);
    assert.deepEqual(seen, [0, 1]);
    const later = await world.open("bob", { pins: { alice: alice.address } });
    await assert.rejects(later.receive(crashAt(3), NO_FOLLOW), /crashed/);
    assert.deepEqual(seen, [0, 1, 1, 2, 3], "the message in hand comes again");
    const verdicts: string[] = [];
    await later.receive(({ report }) => verdicts.push(overall(report)), NO_FOLLOW);
    assert.deepEqual(verdicts, ["proven"]);
    await later.receive(() => assert.fail("all were handled"), NO_FOLLOW);
  }));

Deno.test("receive() hands messages over one by one and ends with its signal", () =>
  inWorld(async (world) => {
    const alice = await world.open("alice");
    const bob = await world.open("bob");
    for (let n = 0; n < 3; n++) await alice.send({ to: bob.address, body: n });
    const abort = new AbortController();
    const seen: unknown[] = [];
    let inHand = 0;
    const receiving = bob.receive(async ({ message }) => {
      assert.equal(++inHand, 1);
      await Promise.resolve();
      seen.push(message.body);
      if (message.body === 1) abort.abort();
      inHand--;
    }, { signal: abort.signal });
    await assert.rejects(bob.receive(() => {}), /Cannot receive twice at once/);
    await receiving;
    assert.deepEqual(seen, [0, 1]);
    const rest: unknown[] = [];
    await bob.receive(({ message }) => rest.push(message.body), NO_FOLLOW);
    assert.deepEqual(rest, [2], "the message in hand was done when it ended");

    const waiting = new AbortController();
    world.alter = (target, text) => {
      if (target.startsWith("/v1/inbox")) queueMicrotask(() => waiting.abort());
      return text;
    };
    const { signal } = waiting;
    await bob.receive(() => assert.fail("nothing comes"), { signal, waitSeconds: 0 });
    await bob.receive(() => assert.fail("nothing"), { signal: AbortSignal.abort() });
    const failing = new AbortController();
    world.alter = undefined;
    await alice.send({ to: bob.address, body: "x" });
    const wrong = bob.receive(() => {
      failing.abort();
      throw new Error("wrong");
    }, { signal: failing.signal });
    await assert.rejects(wrong, /wrong/, "an abort hides no failure of the handler");
  }));

Deno.test("receive() ends with what the relay will not do", () =>
  inWorld(async (world) => {
    const alice = await world.open("alice");
    world.faults.push(refusal(401, "unknown_agent"));
    await assert.rejects(alice.receive(() => {}), { code: "unknown_agent" });
  }));

Deno.test("send() of two processes makes equal sends of one second two messages", () =>
  inWorld(async (world) => {
    const bob = await world.open("bob");
    const alices = await Promise.all([world.open("alice"), world.open("alice")]);
    const sent = await Promise.all(alices.map((one) => one.send({ to: bob.address, body: "x" })));
    assert.equal(new Set(sent.map(({ id }) => id)).size, 2);
  }));

Deno.test("openAgent() warns of a key file that others may read and of a second relay", () =>
  inWorld(async (world) => {
    await world.open("alice");
    const file = join(world.folder, "sub/alice.json");
    await Deno.chmod(file, 0o640);
    await world.open("alice");
    assert.match(world.warnings[0]!, /others may read the key file \(mode 0640\).+chmod 600 /);
    await Deno.chmod(file, 0o600);
    await using second = await startClientWorld();
    const { fetch, clock } = second;
    await world.open("alice", { relay: second.relay.url, fetch, clock });
    assert.equal(world.warnings.length, 2);
    assert.ok(world.warnings[1]!.includes(`belongs to ${world.relay.url}`), world.warnings[1]);
  }));

Deno.test("openAgent() refuses files that are not this agent's, and leaves them alone", () =>
  inWorld(async (world) => {
    await world.open("alice");
    const alice = join(world.folder, "sub/alice.json");
    await assert.rejects(
      world.open("bob", { file: alice }),
      (thrown: Error) => thrown instanceof FileError && /the key of @alice at/.test(thrown.message),
    );
    const { privateKeyHex } = generateKeyPair();
    const broken = join(world.folder, "broken");
    for (
      const text of ["", "{}", `{"version":1,"address":"x","private_key_hex":"${privateKeyHex}"}`]
    ) {
      await Deno.writeTextFile(broken, text);
      await assert.rejects(
        world.open("carol", { file: broken }),
        (thrown: Error) =>
          thrown instanceof FileError && /is no key file/.test(thrown.message) &&
          !thrown.message.includes(privateKeyHex),
      );
      assert.equal(await Deno.readTextFile(broken), text);
    }
    await assert.rejects(world.open("dave", { relay: "relay.example" }), TypeError);
    await assert.rejects(Deno.stat(join(world.folder, "sub/dave.json")), Deno.errors.NotFound);
  }));

Deno.test("openAgent() locks the key with a passphrase where one is given", () =>
  inWorld(async (world) => {
    const { address } = await world.open("alice", { passphrase: "open sesame" });
    const text = await Deno.readTextFile(join(world.folder, "sub/alice.json"));
    assert.equal(JSON.parse(text).version, 2);
    assert.equal((await world.open("alice", { passphrase: "open sesame" })).address, address);
    await assert.rejects(world.open("alice", { passphrase: "x" }), /does not open/);
    await assert.rejects(world.open("alice"), /has a passphrase: pass it/);
  }));
