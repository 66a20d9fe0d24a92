/** `relay` as a process of its own against a relay: exit codes, --json, and a follower that is cut off. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { keyPairFromHex } from "../../toolkit/mod.ts";
import { createTestClock } from "../support/clock.ts";
import { partOrSkip } from "../support/part.ts";
import { spawnRelay, startTestRelay } from "../support/relay.ts";
import { registerAgent } from "../support/test_agent.ts";
import {
  followProgram,
  onDeno,
  ONLINE,
  onNode,
  type Program,
  type ProgramOptions,
  runProgram,
} from "./relay_program.ts";

async function inHome(work: (home: string) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "relay-home-" });
  try {
    await work(home);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

async function printed(program: Program, args: readonly string[], options: ProgramOptions) {
  const { code, out, err } = await runProgram(program, args, options);
  assert.deepEqual([code, err], [0, ""], args.join(" "));
  return out;
}

Deno.test("relay on Deno: an agent registers, sends, reads and is refused, from outside", () =>
  inHome((home) => converseFromOutside(onDeno(ONLINE), home)));

partOrSkip(
  "node",
  "relay on Node.js: an agent registers, sends, reads and is refused, from outside",
  (node) => inHome((home) => converseFromOutside(onNode(node, home), home)),
);

async function converseFromOutside(command: Program, home: string): Promise<void> {
  await using relay = await startTestRelay({ clockStartMs: "real" });
  const options = { home, env: { RELAY_URL: relay.url } };
  const run = (...args: string[]) => runProgram(command, args, options);
  const out = (...args: string[]) => printed(command, args, options);
  const json = async (...args: string[]) => JSON.parse(await out(...args, "--json"));

  const made = await json("keygen");
  const registered = await json("register", "alice", "--tag", "math");
  assert.deepEqual(Object.keys(registered).sort(), [
    "address",
    "handle",
    "owner_token",
    "word_name",
  ]);
  assert.equal(registered.address, made.address);

  // Two processes send the same in one second: both are messages.
  await Promise.all([
    out("send", "alice", "--text", "me"),
    out("send", "alice", "--text", "me"),
  ]);
  relay.clock.advance(2_000);
  const received = (await out("inbox", "--json")).trim().split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(received.map(({ body }) => body), [{ text: "me" }, { text: "me" }]);
  assert.deepEqual(received.map(({ report }) => [report.signature, report.body]), [
    ["valid", "bound"],
    ["valid", "bound"],
  ]);
  const state = join(home, ".config/relay/key.json.state.json");
  assert.equal(Deno.statSync(state).mode! & 0o777, 0o600);

  const refused = await run("send", "nobody", "--text", "x", "--json");
  assert.deepEqual([refused.code, refused.out], [4, ""]);
  assert.equal(JSON.parse(refused.err).error.code, "not_found");
  const away = await run("whoami", "--relay", "http://127.0.0.1:9", "--retry-for", "0");
  assert.deepEqual([away.code, away.out], [5, ""]);
  assert.match(away.err, /^relay whoami: http:\/\/127\.0\.0\.1:9 cannot be reached: .+\n$/);
  const usage = await run("send");
  assert.deepEqual([usage.code, usage.out], [2, ""]);
  assert.match(await out("help", "send"), /^Exit status: 0; 2 .+; 4 .+; 5 /m);
  const mail = await run("mail", "register");
  assert.equal(mail.code, 4);
  assert.match(mail.err, /refused \(mail_disabled\)/);
}

Deno.test("relay inbox --follow loses and doubles nothing when the relay is killed and it is interrupted", async () => {
  await inHome(async (home) => {
    const dataDir = await Deno.makeTempDir({ prefix: "relay-follow-" });
    const limits = JSON.stringify({ inboxPollIntervalMs: 100, sendsPerAgentPerMinute: 600 });
    const settings = { RELAY_DATA_DIR: dataDir, RELAY_LIMITS: limits };
    const command = onDeno(ONLINE);
    let relay = await spawnRelay({ env: settings });
    try {
      const env = { RELAY_URL: relay.url };
      const options = { home, env };
      await printed(command, ["keygen"], options);
      const file = JSON.parse(Deno.readTextFileSync(join(home, ".config/relay/key.json")));
      const seconds = () => Math.floor(Date.now() / 1000);
      const clock = { ...createTestClock(), now: Date.now, seconds };
      const target = () => ({ url: relay.url, clock });
      const bob = await registerAgent(target(), "bob", {
        keys: keyPairFromHex(file.private_key_hex),
      });
      const alice = await registerAgent(target(), "alice");
      let sent = 0;
      const send = async (count: number) => {
        for (let n = 0; n < count; n++) {
          await alice.at(target()).sent({ to: bob.address, body: sent++ });
        }
      };
      const restart = async () => {
        const { port } = new URL(relay.url);
        relay = await spawnRelay({ env: { ...settings, PORT: port } });
      };
      const bodies = (lines: string[]) => lines.map((line) => JSON.parse(line).body);
      const follow = ["inbox", "--follow", "--json"];

      await send(3);
      const first = followProgram(command, follow, options);
      assert.deepEqual(bodies(await first.lines(3)), [0, 1, 2]);
      await relay.kill("SIGKILL");
      await first.told(/cannot be reached|cut off/);
      await restart();
      await send(4);
      assert.deepEqual(bodies(await first.lines(7)), [0, 1, 2, 3, 4, 5, 6]);
      await relay.terminate();
      assert.equal(await first.end("SIGTERM"), 0, "an interruption is how following ends");

      await restart();
      await send(2);
      const second = followProgram(command, follow, options);
      assert.deepEqual(bodies(await second.lines(2)), [7, 8]);
      await send(1);
      assert.deepEqual(bodies(await second.lines(3)), [7, 8, 9]);
      assert.equal(await second.end("SIGINT"), 0);
    } finally {
      await relay.kill("SIGKILL");
      await Deno.remove(dataDir, { recursive: true });
    }
  });
});
