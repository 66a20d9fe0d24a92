/** What `deno task start` gives the relay: enough to work, and no way out. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { permissionFlags } from "../../server/base/config/permissions.ts";
import { runCommand } from "../gate/run_command.ts";
import { spawnFailingRelay } from "../support/spawn_relay.ts";
import { registerAgents } from "../support/test_agent.ts";
import { startTestServer } from "../support/test_server.ts";
import { realTarget } from "../support/traffic.ts";
import { flagsOfTask, freePort, ROOT } from "./printed_permissions.ts";

const PROBE = fileURLToPath(new URL("escape_probe.ts", import.meta.url));
/** Deno before 2.9 is refused by the lock file, in every task. */
const tasksRun = Number(Deno.version.deno.split(".")[1]) >= 9;

function served(handle: () => Response): AsyncDisposable & { port: number } {
  const server = startTestServer(handle);
  return { port: server.port, [Symbol.asyncDispose]: () => server.close() };
}

async function withFolder(test: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempDir({ prefix: "relay permissions " }); // a name with spaces
  try {
    await test(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

Deno.test({
  name: "deno task start starts a relay that works: register, send, poll",
  ignore: !tasksRun,
  fn: () =>
    withFolder(async (dataDir) => {
      const port = freePort();
      const task = new Deno.Command(Deno.execPath(), {
        args: ["task", "start"],
        cwd: ROOT,
        env: { PORT: port, RELAY_DATA_DIR: dataDir },
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const lines = task.stdout.pipeThrough(new TextDecoderStream()).getReader();
      try {
        let said = "";
        while (!/^ +custody .*\n/m.test(said)) {
          const { value, done } = await lines.read();
          assert.ok(!done, `the task ended: ${said}`);
          said += value;
        }
        assert.ok(said.startsWith(`relay `), "nothing comes before the relay's own lines");
        const [alice, bob] = await registerAgents(
          realTarget(`http://127.0.0.1:${port}`),
          "alice",
          "bob",
        );
        await alice.sent({ to: "bob", body: "hello" });
        assert.deepEqual((await bob.inbox()).map(({ body }) => body), ["hello"]);
        for (const path of ["/docs", "/openapi.json", "/v1/stats", "/health/db"]) {
          const answer = await fetch(`http://127.0.0.1:${port}${path}`);
          await answer.body?.cancel();
          assert.equal(answer.status, 200, path);
        }
      } finally {
        task.kill("SIGTERM");
        while (!(await lines.read()).done);
        assert.equal((await task.status).code, 0);
      }
    }),
});

Deno.test("what runs under the permissions of the task reaches nothing but what the relay needs", async () => {
  await withFolder(async (path) => {
    const dataDir = join(path, "data");
    await Deno.mkdir(dataDir);
    await Deno.writeTextFile(join(path, "secret"), "secret");
    await Deno.writeTextFile(join(path, "module.ts"), "export {};");
    await using other = served(() => new Response("reached"));
    const flags = await flagsOfTask({ RELAY_DATA_DIR: dataDir, PORT: freePort() });
    const { exitCode, output } = await runCommand(
      [
        Deno.execPath(),
        "run",
        "--quiet",
        "--no-lock",
        "--unstable-worker-options",
        ...flags,
        PROBE,
        dataDir,
        String(other.port),
        path,
      ],
      { cwd: ROOT, env: { SOME_SECRET: "secret" } },
    );
    assert.equal(exitCode, 0, output);
    const { "read the data folder": read, "write to the data folder": write, ...refused } = JSON
      .parse(output);
    assert.deepEqual([read, write], ["done", "done"], "what the relay needs");
    assert.ok(Object.keys(refused).length > 20);
    for (const [attempt, result] of Object.entries<string>(refused)) {
      // Deno 2.5 says of a port that listens, and is not permitted to node:net, that it is refused.
      assert.match(result, /NotCapable|Requires \w+ access|escalate|ECONNREFUSED/, attempt);
    }
  });
});

Deno.test("the program that prints the permissions stands on no library", async () => {
  const { output } = await runCommand(
    [
      Deno.execPath(),
      "info",
      "--json",
      "--quiet",
      "--no-lock",
      "server/base/config/print_permissions.ts",
    ],
    { cwd: ROOT, env: { NO_COLOR: "1" } },
  );
  const modules: { specifier: string }[] = JSON.parse(output).modules;
  assert.ok(modules.length >= 5);
  const own = /^file:.*\/(?:server\/base\/config\/|toolkit\/mail\/resolv_conf\.ts$)/;
  for (const { specifier } of modules) assert.match(specifier, own);
});

Deno.test({
  name: "the runtime denies what the printed permissions of webhooks deny, mapped into IPv6 too",
  ignore: !tasksRun,
  async fn() {
    const flags = permissionFlags({
      RELAY_SMTP_URL: "smtp://192.168.0.9:25",
      RELAY_MAIL_FROM: "relay@example.org",
      RELAY_MAIL_DOMAIN: "mail.example.org",
      RELAY_DNS_SERVERS: "9.9.9.9",
    });
    const probe = "for (const host of Deno.args) " +
      "console.log(host, (await Deno.permissions.query({ name: 'net', host })).state)";
    const hosts = ["8.8.8.8:443", "[2606:4700::1111]:443", "hook.example:8443", "192.168.0.9:25"];
    const inside = ["10.0.0.1:5432", "172.31.0.1", "169.254.169.254:80", "[::1]:80", "0.0.0.0:80"];
    const mapped = ["[::ffff:10.0.0.1]:5432", "[::ffff:a9fe:a9fe]:80"];
    const { output } = await runCommand(
      [Deno.execPath(), "run", "--quiet", ...flags, `data:text/javascript,${probe}`]
        .concat(hosts, inside, mapped),
      { cwd: ROOT, env: { NO_COLOR: "1" } },
    );
    assert.deepEqual(output.trim().split("\n"), [
      ...hosts.map((host) => `${host} granted`),
      ...[...inside, ...mapped].map((host) => `${host} denied`),
    ]);
  },
});

Deno.test("a KV server that names another host for its data is told of, with the setting that permits it", async () => {
  await using data = served(() => new Response(null, { status: 500 }));
  await using server = served(() =>
    Response.json({
      version: 2,
      databaseId: "ad50e341-9fb2-4c0e-9b0e-7f0f0a3c0a11",
      endpoints: [{ url: `http://127.0.0.1:${data.port}/v2`, consistency: "strong" }],
      token: "of-the-data",
      expiresAt: "2090-01-01T00:00:00Z",
    })
  );
  const env = {
    PORT: freePort(),
    RELAY_KV_URL: `http://127.0.0.1:${server.port}`,
    DENO_KV_ACCESS_TOKEN: "a-token-of-tests-only",
  };
  const { code, stderr } = await spawnFailingRelay({ env });
  assert.equal(code, 1);
  assert.match(
    stderr,
    new RegExp(`^relay: .*Requires net access to "127.0.0.1:${data.port}".*RELAY_KV_HOSTS`),
  );
  assert.equal(stderr.trimEnd().split("\n").length, 1);
});
