import assert from "node:assert/strict";
import { join } from "node:path";
import { LAYOUT_VERSION } from "../../server/base/storage/rows/layout.ts";
import { openKvFile } from "../support/read_through.ts";
import { spawnFailingRelay, spawnRelay } from "../support/spawn_relay.ts";

async function withFolder(test: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempDir();
  try {
    await test(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

Deno.test("main.ts starts with no settings but a port and tells what is on and off", async () => {
  await using relay = await spawnRelay();
  const { stdout, stderr } = relay.output();
  assert.match(stdout, new RegExp(`pid +${relay.pid} `));
  assert.match(stdout, /store +embedded file .*relay\.kv, exclusive/);
  assert.match(stdout, /admin +off/);
  assert.equal(stderr, "");
  const answer = await fetch(`${relay.url}/health/db`);
  assert.deepEqual(await answer.json(), { ok: true, db: true });
  const unknown = await fetch(`${relay.url}/nothing`);
  assert.equal((await unknown.json()).error.code, "not_found");
});

Deno.test({
  name: "main.ts keeps its store to its own user in a folder that is open to others",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFolder(async (path) => {
      await Deno.chmod(path, 0o755);
      await using relay = await spawnRelay({ env: { RELAY_DATA_DIR: path } });
      const stored = [...Deno.readDirSync(path)].filter(({ name }) => /^relay\.kv|key$/.test(name));
      assert.ok(stored.length > 1, "the store and what stands beside it");
      for (const { name } of stored) {
        assert.equal((await Deno.stat(join(path, name))).mode! & 0o777, 0o600, name);
      }
      await relay.terminate();
    }),
});

Deno.test("main.ts reads .env from its working directory, and the process wins over it", async () => {
  await withFolder(async (path) => {
    await Deno.writeTextFile(
      join(path, ".env"),
      "RELAY_BASE_URL=https://from-file.test\nRELAY_DATA_DIR=/nowhere/at/all\n",
    );
    await using relay = await spawnRelay({ env: { RELAY_DATA_DIR: path } });
    const answer = await fetch(`${relay.url}/`);
    assert.equal((await answer.json()).docs, "https://from-file.test/docs");
    await relay.terminate();
  });
});

Deno.test("main.ts stops on a bad setting with one line that names it and repeats no secret", async () => {
  const secret = "hunter2".repeat(5).slice(0, 31);
  const refusals: [Record<string, string>, RegExp][] = [
    [{ PORT: "99999" }, /^relay: PORT must be an integer from 0 to 65535$/],
    [{ RELAY_ADMIN_TOKEN: secret }, /^relay: RELAY_ADMIN_TOKEN must have at least 32 characters/],
    [{ RELAY_CUSTODY_KEY: secret }, /^relay: RELAY_CUSTODY_KEY must be base64/],
    [{ RELAY_LIMITS: '{"sends":1}' }, /RELAY_LIMITS names an unknown limit "sends"/],
    [{ RELAY_LIMITS: '{"bodyBytes":-1}' }, /^relay: RELAY_LIMITS/],
    [{ RELAY_SMTP_CA: "/nowhere/ca.pem" }, /^relay: RELAY_SMTP_CA names a file/],
  ];
  const starts = await Promise.all(refusals.map(([env]) => spawnFailingRelay({ env })));
  for (const [index, { code, stdout, stderr }] of starts.entries()) {
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr.trimEnd(), refusals[index]![1]);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
    assert.ok(!stderr.includes(secret));
  }
});

Deno.test("main.ts stops when its port is taken, and leaves the data folder free", async () => {
  await withFolder(async (path) => {
    await using first = await spawnRelay();
    const port = new URL(first.url).port;
    const failed = await spawnFailingRelay({ env: { PORT: port, RELAY_DATA_DIR: path } });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /^relay: HOST:PORT is taken/);
    await using second = await spawnRelay({ env: { RELAY_DATA_DIR: path } });
    await second.terminate();
  });
});

Deno.test("main.ts stops on a store that it cannot use with one line that says what to do", async () => {
  await withFolder(async (path) => {
    const folder = async (name: string) => {
      const dataDir = join(path, name);
      await Deno.mkdir(dataDir);
      return dataDir;
    };
    const [damaged, foreign, newer] = await Promise.all(["a", "b", "c"].map(folder));
    await Deno.writeFile(join(damaged!, "relay.kv"), new Uint8Array(5000).fill(7));
    await Deno.mkdir(join(foreign!, "relay.kv"));
    const kv = await openKvFile(join(newer!, "relay.kv"));
    await kv.set(["meta", "layout"], { version: LAYOUT_VERSION + 1 });
    kv.close();
    const refusals: [string, RegExp][] = [
      [damaged!, /^relay: the store in RELAY_DATA_DIR is damaged, .*: restore it from a backup \(/],
      [foreign!, /^relay: relay\.kv in RELAY_DATA_DIR is no file that .* may write to/],
      [newer!, /^relay: cannot start: the store has layout \d+, .*; start the newer relay/],
    ];
    for (const [dataDir, said] of refusals) {
      const env = { RELAY_DATA_DIR: dataDir };
      const { code, stdout, stderr } = await spawnFailingRelay({ env });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, said);
      assert.equal(stderr.trimEnd().split("\n").length, 1);
    }
  });
});

Deno.test("main.ts refuses a data folder in use, naming the holder's pid and start", async () => {
  await withFolder(async (path) => {
    const env = { RELAY_DATA_DIR: path };
    await using first = await spawnRelay({ env });
    for (const other of [env, { ...env, RELAY_SHARED_STORE: "true" }]) {
      const { code, stderr } = await spawnFailingRelay({ env: other });
      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(`pid ${first.pid}, started 20\\d\\d-\\d\\d-\\d\\dT[0-9:.]+Z`),
      );
      assert.equal(stderr.trimEnd().split("\n").length, 1);
    }
    await first.terminate();
  });
});

Deno.test("main.ts leaves no stale lock when it is killed", async () => {
  await withFolder(async (path) => {
    const env = { RELAY_DATA_DIR: path };
    await using first = await spawnRelay({ env });
    assert.equal((await first.kill("SIGKILL")).signal, "SIGKILL");
    await using second = await spawnRelay({ env });
    const refused = await spawnFailingRelay({ env });
    assert.ok(refused.stderr.includes(`pid ${second.pid},`));
    // Before it had FsFile.tryLock the runtime could not tell the living from the dead.
    const canTellDead = "tryLock" in Deno.FsFile.prototype;
    assert.equal(refused.stderr.includes(`pid ${first.pid},`), !canTellDead);
    await second.terminate();
  });
});

Deno.test("main.ts lets relays share a store that all of them call shared", async () => {
  await withFolder(async (path) => {
    const env = { RELAY_DATA_DIR: path, RELAY_SHARED_STORE: "true" };
    await using first = await spawnRelay({ env });
    await using second = await spawnRelay({ env });
    assert.match(second.output().stdout, /relay\.kv, shared/);
    const { stderr } = await spawnFailingRelay({ env: { RELAY_DATA_DIR: path } });
    assert.ok(stderr.includes(`pid ${first.pid},`) && stderr.includes(`pid ${second.pid},`));
    await Promise.all([first.terminate(), second.terminate()]);
  });
});

Deno.test("main.ts refuses a clock far behind its store until RELAY_CLOCK_CHECK=off says that it is right", async () => {
  await withFolder(async (path) => {
    const env = { RELAY_DATA_DIR: path };
    const kv = await openKvFile(join(path, "relay.kv"));
    await kv.set(["meta", "clock"], Date.now() + 3 * 86_400_000);
    kv.close();
    const { code, stderr } = await spawnFailingRelay({ env });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^relay: the clock says .*, and the store was in use at .*RELAY_CLOCK_CHECK=off\n$/,
    );
    await using told = await spawnRelay({ env: { ...env, RELAY_CLOCK_CHECK: "off" } });
    assert.match(told.output().stdout, /clock +RELAY_CLOCK_CHECK is off: .* is taken for right/);
    await told.terminate();
    await using again = await spawnRelay({ env });
    assert.doesNotMatch(again.output().stdout, /^ +clock/m);
    await again.terminate();
  });
});
