/** What the command line says about a key file that is not kept as it should be. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { startClientWorld } from "./client_world.ts";
import { OFFLINE, onDeno, runProgram } from "./relay_program.ts";
import { Person, registered } from "./person.ts";

const KEY = "/me/.config/relay/key.json";

Deno.test("a key file that others may read is told of on stderr, with the chmod to run", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  for (const mode of [0o644, 0o640, 0o604, 0o622]) {
    const { code, err } = await alice.run(["whoami"], { modes: { [KEY]: mode } });
    assert.equal(code, 0);
    assert.match(
      err,
      new RegExp(
        `^relay: others may (read|change) the key file .+0${mode.toString(8)}.+chmod 600 ${KEY}\n$`,
      ),
    );
  }
  for (const mode of [0o600, 0o400, 0o711]) {
    assert.equal((await alice.run(["whoami"], { modes: { [KEY]: mode } })).err, "");
  }
  const sign = ["sign", "GET", "/v1/whoami", "--key", "a b'c"];
  const files = new Map([["a b'c", alice.files.get(KEY)!]]);
  const { err } = await alice.run(sign, { files, modes: { "a b'c": 0o644 } });
  assert.ok(err.endsWith("run chmod 600 'a b'\\''c'\n"), err);
});

Deno.test("a key file that others may read is told of from outside, and only then", async () => {
  const home = await Deno.makeTempDir({ prefix: "relay-modes-" });
  try {
    const run = (...args: string[]) => runProgram(onDeno(OFFLINE), args, { home });
    assert.equal((await run("keygen")).code, 0);
    const path = join(home, ".config/relay/key.json");
    assert.equal((await run("sign", "GET", "/v1/whoami")).err, "");
    await Deno.chmod(path, 0o644);
    const told = await run("sign", "GET", "/v1/whoami");
    assert.equal(told.code, 0);
    assert.match(told.err, /others may read the key file \(mode 0644\).+chmod 600 \S+key\.json\n$/);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("a key that is used at a second relay is warned of, the first one being remembered", async () => {
  await using first = await startClientWorld();
  await using second = await startClientWorld();
  const alice = await registered(first, "alice");
  assert.equal((await alice.run(["whoami"])).err, "", "its own relay is nothing to tell of");
  const there = new Person(second);
  for (const [path, content] of alice.files) there.files.set(path, content);
  const { code, err } = await there.run(["register", "alice"]);
  assert.equal(code, 0);
  assert.match(err, /^relay register: the key in '.+' belongs to http.+ and is used at http/);
  assert.ok(err.includes(first.relay.url) && err.includes(second.relay.url));
  assert.match((await there.run(["whoami"])).err, /a signature names no relay/, "each time");
  const away = await there.run(["whoami", "--relay", "http://127.0.0.1:9", "--retry-for", "0"], {
    fetch: () => Promise.reject(new TypeError("away")),
  });
  assert.match(away.err, /^relay whoami: http:\/\/127\.0\.0\.1:9 cannot be reached: .+\n$/);
});
