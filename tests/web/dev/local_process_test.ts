/** Local mode as processes: the task that starts it, what it refuses, and whose store it takes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { decodeInboundSecret } from "../../../toolkit/client/inbound_secret.ts";
import { createTestClock } from "../../support/clock.ts";
import { askMail, signRegistration } from "../../support/mail_relay.ts";
import { MAIL_TOOL_NAMES } from "../../support/mail_tools.ts";
import { delay } from "../../support/pace.ts";
import { spawnFailingRelay, spawnRelay } from "../../support/spawn_relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { setEmail } from "../../messaging/digest/digest_bench.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** Deno before 2.9 is refused by the lock file, in every task. */
const tasksRun = Number(Deno.version.deno.split(".")[1]) >= 9;
const LOCAL = { RELAY_MAIL_DEV: "true" };

async function withFolder(test: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempDir({ prefix: "relay-local-" });
  try {
    await test(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}

Deno.test({
  name: "deno task mail starts mail on a laptop: no setting, no name of a program on the PATH",
  ignore: !tasksRun,
  fn: () =>
    withFolder(async (dataDir) => {
      const port = freePort();
      const task = new Deno.Command(Deno.execPath(), {
        args: ["task", "mail"],
        cwd: ROOT,
        // With npx alone there is no `deno` on it.
        env: { PORT: port, RELAY_DATA_DIR: dataDir, PATH: join(dataDir, "none") },
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const lines = task.stdout.pipeThrough(new TextDecoderStream()).getReader();
      try {
        const url = `http://127.0.0.1:${port}`;
        let said = "";
        while (!/^ +local mode .*\n/m.test(said)) {
          const { value, done } = await lines.read();
          assert.ok(!done, `the task ended: ${said}`);
          said += value;
        }
        assert.match(said, /^ {2}mail +on: inboxes at agents\.test, inbound secret in /m);
        assert.match(said, /^ {2}digests +configured: captured/m);
        const [, address] = /^ {2}local mode on: .* at (\S+)$/m.exec(said)!;
        assert.equal(address, `${url}/dev/mail`);
        const page = await fetch(address!, { headers: { Accept: "text/html" } });
        assert.match(await page.text(), /What this relay sends will be a line here/);

        const body = signRegistration(Date.now());
        const org = await askMail(url, "POST", "/v1/mail/agents/register", { body });
        assert.equal(org.status, 201, JSON.stringify(org.body));
        const listing = { jsonrpc: "2.0", id: 1, method: "tools/list" };
        const tools = await askMail(url, "POST", "/mcp/mail", { body: listing });
        assert.equal(tools.status, 200);
        assert.equal(tools.body.result.tools.length, MAIL_TOOL_NAMES.length);

        const secretPath = join(dataDir, "inbound.secret");
        const secret = await Deno.readTextFile(secretPath);
        assert.equal(decodeInboundSecret(secret)!.length, 32);
        if (Deno.build.os !== "windows") {
          assert.equal((await Deno.stat(secretPath)).mode! & 0o777, 0o600);
        }
        assert.ok(!said.includes(secret.trim()));
      } finally {
        task.kill("SIGTERM");
        while (!(await lines.read()).done);
        assert.equal((await task.status).code, 0);
      }
    }),
});

Deno.test("deno task mail is deno task start in local mode, its folder never committed", async () => {
  const { tasks, exclude } = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  assert.equal(tasks.mail, `export RELAY_MAIL_DEV=true && ${tasks.start}`);
  assert.ok(exclude.includes("data-mail/"));
  assert.match(await Deno.readTextFile(join(ROOT, ".gitignore")), /^data-mail\/$/m);
});

Deno.test("a digest is captured by a relay with the permissions of local mode", async () => {
  await using relay = await spawnRelay({
    env: LOCAL,
    entry: "../messaging/digest/cron_by_signal.ts",
  });
  const bob = await registerAgent({ url: relay.url, clock: createTestClock(Date.now()) }, "bob");
  await setEmail(bob, "bob@example.net");
  await delay(2); // a later millisecond than the address was set in
  await bob.sent({ to: "bob", body: "hello" });
  Deno.kill(relay.pid, "SIGUSR1");
  await relay.wrote(/digest cron 1 has run/);
  const { data } = await (await fetch(`${relay.url}/dev/mail`)).json();
  assert.deepEqual(data.map(({ subject }: { subject: string }) => subject), ["1 unread message"]);
  const { text } = await (await fetch(`${relay.url}/dev/mail/1`)).json();
  assert.match(text, /^1 unread message for @bob, from:/);
  assert.equal((await relay.terminate()).code, 0);
  assert.doesNotMatch(relay.output().stderr, /failed|@example/);
});

Deno.test("start-up says of mail whether it is on, else why not, when POST /mcp/mail is 503", async () => {
  const outbound = { RELAY_SMTP_URL: "smtp://127.0.0.1:1", RELAY_MAIL_FROM: "relay@example.org" };
  const domain = { RELAY_MAIL_DOMAIN: "mail.example.org" };
  const starts: [Record<string, string>, string, string][] = [
    [
      {},
      "off: RELAY_SMTP_URL, RELAY_MAIL_FROM, RELAY_MAIL_DOMAIN are unset",
      "off: RELAY_SMTP_URL",
    ],
    [domain, "off: RELAY_SMTP_URL, RELAY_MAIL_FROM are unset", "off: RELAY_SMTP_URL"],
    [outbound, "off: RELAY_MAIL_DOMAIN is unset, mail routes answer 503", "configured\n"],
    [{ ...outbound, ...domain }, "on: inboxes at mail.example.org\n", "configured\n"],
  ];
  for (const [env, mail, digests] of starts) {
    await using relay = await spawnRelay({ env });
    const { stdout } = relay.output();
    assert.ok(stdout.includes(`\n  mail       ${mail}`), stdout);
    assert.ok(stdout.includes(`\n  digests    ${digests}`), stdout);
    assert.doesNotMatch(stdout, /local mode/);
    const tools = await askMail(relay.url, "POST", "/mcp/mail", { body: {} });
    if (mail.startsWith("off")) {
      assert.deepEqual([tools.status, Object.keys(tools.body)], [503, ["error"]]);
      assert.equal(tools.body.error.code, "mail_disabled");
    } else assert.deepEqual([tools.status, tools.body.error.code], [400, -32600]);
    await relay.terminate();
  }
});

Deno.test("a start in local mode that others could reach stops, naming the setting", async () => {
  const secret = `whsec_${btoa("hunter2hunter2hunter2")}`;
  const receiver = { RELAY_MAIL_LISTEN: "127.0.0.1:2525", RELAY_MAIL_DOMAIN: "mail.example.org" };
  const refusals: [Record<string, string>, RegExp][] = [
    [{ ...LOCAL, HOST: "0.0.0.0" }, /^relay: HOST must be this machine's own address/],
    [{ ...LOCAL, RELAY_BASE_URL: "https://relay.example" }, /^relay: RELAY_BASE_URL must be unset/],
    [{ ...LOCAL, RELAY_SMTP_URL: "smtp://127.0.0.1:1" }, /^relay: RELAY_SMTP_URL must be unset/],
    [{ ...LOCAL, RELAY_TRUSTED_PROXY_HOPS: "1" }, /^relay: RELAY_TRUSTED_PROXY_HOPS must be 0/],
    [{ ...LOCAL, RELAY_MAIL_INBOUND_SECRET: secret }, /^relay: RELAY_MAIL_INBOUND_SECRET must be/],
    [{ ...receiver, RELAY_MAIL_FROM: "relay@mail.example.org" }, /^relay: RELAY_MAIL_POSTMASTER/],
  ];
  for (const [env, said] of refusals) {
    const { code, stdout, stderr } = await spawnFailingRelay({ env });
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, said);
    assert.equal(stderr.trimEnd().split("\n").length, 1);
    assert.ok(!stderr.includes(secret));
  }
});

Deno.test("a folder of local mode starts in no other, at no other domain, and the reverse", async () => {
  await withFolder(async (path) => {
    const [local, real] = ["local", "real"].map((name) => join(path, name));
    for (const dataDir of [local!, real!]) await Deno.mkdir(dataDir);
    const outbound = {
      RELAY_SMTP_URL: "smtp://127.0.0.1:1",
      RELAY_MAIL_FROM: "relay@example.org",
      RELAY_MAIL_DOMAIN: "mail.example.org",
    };
    const start = async (env: Record<string, string>) => {
      await using relay = await spawnRelay({ env });
      assert.match(relay.output().stdout, /^ {2}mail +on: /m);
      // With the first address the domain is settled.
      const body = signRegistration(Date.now());
      const org = await askMail(relay.url, "POST", "/v1/mail/agents/register", { body });
      const key = org.body.api_key;
      assert.equal(
        (await askMail(relay.url, "POST", "/v1/mail/inboxes", { key, body: {} })).status,
        201,
      );
      await relay.terminate();
    };
    const here = { ...LOCAL, RELAY_DATA_DIR: local! };
    const there = { ...outbound, RELAY_DATA_DIR: real! };
    await start(here);
    await start(there);
    const refusals: [Record<string, string>, RegExp][] = [
      [{ RELAY_DATA_DIR: local! }, /^relay: RELAY_MAIL_DEV must be true for this store/],
      [{ ...outbound, RELAY_DATA_DIR: local! }, /^relay: RELAY_MAIL_DEV must be true for this/],
      [
        { ...here, RELAY_MAIL_DOMAIN: "other.test" },
        /^relay: RELAY_MAIL_DOMAIN must be agents\.te/,
      ],
      [{ ...LOCAL, RELAY_DATA_DIR: real! }, /^relay: RELAY_MAIL_DEV must be unset for this store/],
      [
        { ...there, RELAY_MAIL_DOMAIN: "a.example.org" },
        /^relay: RELAY_MAIL_DOMAIN must be mail\./,
      ],
    ];
    for (const [env, said] of refusals) {
      const { code, stdout, stderr } = await spawnFailingRelay({ env });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, said);
    }
    await start(here);
    await start(there);
  });
});
