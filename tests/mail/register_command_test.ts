/** `relay mail register` and registerForMail() against the real route, in process and as a program. */
import assert from "node:assert/strict";
import { parseConfig } from "../../server/base/config/config.ts";
import { registerForMail } from "../../toolkit/client/register_for_mail.ts";
import { RefusalError } from "../../toolkit/client/mod.ts";
import { generateKeyPair } from "../../toolkit/generate_key_pair.ts";
import { accepted } from "../support/mail_caller.ts";
import { askMail, startMailRelay } from "../support/mail_relay.ts";
import { partOrSkip } from "../support/part.ts";
import { startClientWorld } from "../toolkit/client_world.ts";
import { Person } from "../toolkit/person.ts";
import { onDeno, ONLINE, onNode, type Program, runProgram } from "../toolkit/relay_program.ts";

const { mail } = parseConfig({ RELAY_MAIL_DEV: "true" });

/** Name of the only key of the org that a key opens. */
async function firstKeyName(url: string, key: string): Promise<string> {
  const { data } = accepted(await askMail(url, "GET", "/v1/mail/api-keys", { key }), 200);
  assert.equal(data.length, 1);
  return data[0].name;
}

Deno.test("registerForMail() gives a key that opens the org; again is handle_taken, a wrong clock refused", async () => {
  await using world = await startClientWorld({ config: { mail } });
  const { relay, clock, fetch } = world;
  const options = { relay: relay.url, keys: generateKeyPair(), clock, fetch };
  const made = await registerForMail(options, "my agent");
  assert.deepEqual([made.agent_id, made.trial, made.expires_in_hours], [1, true, 24]);
  assert.equal(made.key_prefix, made.api_key.slice(0, 12));
  const org = await askMail(relay.url, "GET", "/v1/mail/org", { key: made.api_key });
  assert.equal(accepted(org, 200).org_id, made.org_id);
  assert.equal(await firstKeyName(relay.url, made.api_key), "my agent");
  const code = (expected: string) => (error: unknown) => {
    assert.ok(error instanceof RefusalError);
    assert.equal(error.code, expected);
    return true;
  };
  await assert.rejects(registerForMail(options), code("handle_taken"));
  const late = { ...clock, now: () => clock.now() - 301_000 };
  const other = { ...options, keys: generateKeyPair(), clock: late };
  await assert.rejects(registerForMail(other), code("timestamp_out_of_range"));
});

Deno.test("relay mail register: words and JSON, the label, and refusals with 4", async () => {
  await using world = await startClientWorld({ config: { mail } });
  const { url } = world.relay;
  const alice = new Person(world);
  assert.equal((await alice.run(["mail", "register"])).code, 2); // no key yet
  await alice.out(["keygen"]);
  const shown = await alice.out(["mail", "register", "--label", "laptop"]);
  const key = /^API key +(rm_sk_\S+)$/m.exec(shown)![1]!;
  assert.match(shown, /^org +org_\w+$/m);
  assert.match(shown, /^agent +1$/m);
  assert.match(shown, /^expires in +24 hours$/m);
  assert.equal(await firstKeyName(url, key), "laptop");
  const again = await alice.run(["mail", "register"]);
  assert.deepEqual([again.code, again.out], [4, ""]);
  assert.match(again.err, /handle_taken/);

  const bob = new Person(world);
  await bob.out(["keygen"]);
  const long = await bob.run(["mail", "register", "--label", "x".repeat(101)]);
  assert.deepEqual([long.code, long.out], [4, ""]);
  const [made] = await bob.json(["mail", "register"]);
  assert.deepEqual(
    Object.keys(made).sort(),
    ["agent_id", "api_key", "expires_in_hours", "key_prefix", "note", "org_id", "trial"],
  );
  assert.equal(await firstKeyName(url, made.api_key), "registration");
});

async function registerFromOutside(program: Program): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "relay-home-" });
  try {
    await using relay = await startMailRelay({ clockStartMs: "real" });
    const run = (...args: string[]) =>
      runProgram(program, args, { home, env: { RELAY_URL: relay.url } });
    assert.equal((await run("keygen")).code, 0);
    const made = await run("mail", "register", "--json");
    assert.deepEqual([made.code, made.err], [0, ""]);
    const { api_key, org_id } = JSON.parse(made.out);
    const org = await askMail(relay.url, "GET", "/v1/mail/org", { key: api_key });
    assert.equal(accepted(org, 200).org_id, org_id);
    const again = await run("mail", "register", "--json");
    assert.deepEqual([again.code, again.out], [4, ""]);
    assert.equal(JSON.parse(again.err).error.code, "handle_taken");
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

Deno.test("relay mail register on Deno, from outside", () => registerFromOutside(onDeno(ONLINE)));

partOrSkip("node", "relay mail register on Node.js, from outside", async (node) => {
  const folder = await Deno.makeTempDir({ prefix: "relay-bundle-" });
  try {
    await registerFromOutside(onNode(node, folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
